from __future__ import annotations

import tomllib
from importlib.resources import files

import pytest

from mcp_tap.rules.words import asks, speaks_of_delivery
from tests.work import seconds_of

WORDS = tomllib.loads(
    files("mcp_tap.rules").joinpath("data", "words.toml").read_text(encoding="utf-8")
)
LISTS = ("secrets", "payment", "codes")


def listed(name, part):
    return [
        pytest.param(name, word.replace("*", ""), id=f"{language}-{word}")
        for language, words in WORDS[name][part].items()
        for word in words
        if not word.endswith("*") and "* " not in word
    ]


@pytest.mark.parametrize(
    ("name", "word"),
    [case for name in LISTS for part in ("terms", "signs") for case in listed(name, part)],
)
def test_every_listed_word_is_found_as_a_title(name, word):
    assert asks(name, "title", word.capitalize()) is not None


@pytest.mark.parametrize(
    "text",
    [
        *("Access token", "Your API-Key", "apikey", "PASSWORD", "Passwords", "Type your password"),
        *(
            "Personal access token (PAT)",
            "Pass\u00adword",
            "Pass\u200bword",
            "\uff30\uff21\uff33\uff33word",
        ),
        *("Пароль", "Пароль от базы данных", "Токена доступа", "Секретным ключом", "Имя и пароль"),
        *("Учётные данные", "Кодовая фраза", "API-ключ"),
        *("Datenbankpasswort eingeben", "Passworteingabe", "API-Schlüssel", "Api-Schluessel"),
        *("Jeton d'accès", "JETON D\u2019ACCES", "Clé d’API", "Contrasena", "Clave de API"),
        *("请输入您的访问令牌", "登录密码", "ログインパスワード", "API キー", "暗証番号"),
        *("Senha", "Chiave privata", "Hasło do konta", "Hasła", "비밀번호를 입력", "Wachtwoord"),
        *("Şifre", "كلمة المرور", "पासवर्ड"),
    ],
)
def test_a_title_asks_for_a_secret_by_naming_it(text):
    assert asks("secrets", "title", text) is not None


@pytest.mark.parametrize(
    "text",
    [
        *("Username", "Full name", "E-mail address", "Project key", "Sort key", "Public key"),
        *("Passenger", "Compass", "Keyboard", "Secretary", "Passport number", "Token count"),
        *("Password policy", "Password length", "Password hint", "API key name", "Access key ID"),
        *("Name of the API key", "Path to your private key", "No password", "Max tokens"),
        *("PIN code of the delivery address", "PIN code", "Password-protected"),
        *("Имя пользователя", "Ключ проекта", "Ключевое слово", "Длина пароля", "Имя ключа API"),
        *("Benutzername", "Schlüsselwort", "Passwortlänge", "Passwort-Richtlinie"),
        *("Name des API-Schlüssels", "Nom d'utilisateur", "Mot-clé", "Clé primaire"),
        *("Politique de mot de passe", "Nombre de usuario", "Palabra clave", "Clave del proyecto"),
        *(
            "用户名",
            "关键词",
            "密码学",
            "密码策略",
            "密钥名称",
            "キーワード",
            "パスポート",
            "パスワードポリシー",
        ),
        *(
            "암호화 방식",
            "비밀번호 정책",
            "Słowo kluczowe",
            "Palavra-chave",
            "Lunghezza della password",
        ),
    ],
)
def test_what_only_looks_like_a_secret_is_none(text):
    assert asks("secrets", "title", text) is None
    assert asks("payment", "title", text) is None
    assert asks("codes", "title", text) is None


@pytest.mark.parametrize(
    "text",
    [
        *("Enter the password of your account", "Database password", "Must be your API key."),
        "Enter your API key, do not share it with anyone.",
        "Your password (never shown).",
        *("Укажите пароль вашей учётной записи", "Geben Sie Ihr Kennwort ein"),
        *("Saisissez votre mot de passe", "Introduzca la contraseña de su cuenta"),
        *("请填写您的登录密码", "ログイン用パスワードを入力してください", "비밀번호를 입력하세요"),
        "Enter the password that will be used for the new account",
        "Enter your password to receive access",
    ],
)
def test_a_description_asks_unless_it_says_otherwise(text):
    assert asks("secrets", "description", text) is not None


@pytest.mark.parametrize(
    "text",
    [
        *("Do not enter your password here.", "We never ask for your password."),
        "Do not enter your name, password or API key.",
        "Don’t type your passphrase, we won't store it.",
        "A password will be e-mailed to you.",
        "You will receive a password by mail.",
        *("Не указывайте здесь пароль.", "Никогда не вводите пароли и ключи API"),
        *("Bitte hier kein Passwort eingeben.", "Geben Sie niemals Ihren API Key ein"),
        *("N'indiquez jamais votre mot de passe ici.", "No escriba aquí su contraseña."),
        *("Non inserire la password", "Não digite a sua senha aqui", "Nie podawaj hasła"),
        *("请勿在此填写密码。", "パスワードは入力しないでください。", "비밀번호를 입력하지 마세요"),
        *("Не вказуйте пароль", "Voer hier nooit uw wachtwoord in"),
    ],
)
def test_a_description_that_says_the_opposite_does_not_ask(text):
    assert asks("secrets", "description", text) is None


@pytest.mark.parametrize(
    "text",
    [
        *("Please provide your API key to continue.", "What is your password?"),
        "Please enter your user name, e-mail address and password.",
        "Please provide the following: user name, password.",
        "To continue, enter your access token",
        "A password is required.",
        *("Введите пароль от вашей учётной записи.", "Для продолжения укажите API-ключ"),
        *("Bitte geben Sie Ihr Passwort ein.", "Geben Sie, falls vorhanden, Ihr Passwort ein."),
        *("Veuillez saisir votre mot de passe.", "Introduzca su contraseña para continuar."),
        *("请输入您的密码以继续。", "続行するにはパスワードを入力してください。"),
        *("Digite sua senha", "Inserisci la password", "Podaj hasło", "Введіть пароль"),
        *("비밀번호를 입력하세요", "Voer uw wachtwoord in", "Lütfen şifrenizi girin"),
    ],
)
def test_a_message_asks_with_a_word_of_request(text):
    assert asks("secrets", "message", text) is not None


@pytest.mark.parametrize(
    "text",
    [
        "Enter your e-mail address. A password reset link will be sent to you.",
        "Enter your e-mail address; we never ask for your password.",
        "Enter your e-mail address and a password will be e-mailed to you.",
        "Enter your e-mail, we will send you a password",
        "A password will be e-mailed to you.",
        *("Choose a name for the API key.", "Please enter a name for the API key."),
        "Which API key should be revoked?",
        "Пароль будет отправлен вам на почту. Укажите e-mail.",
        "Ein Passwort wird Ihnen per E-Mail zugesandt.",
        "Geben Sie Ihre E-Mail ein. Ein Passwort wird Ihnen zugesandt.",
        *("Saisissez un nom pour la clé API", "Indique un nombre para la clave de API"),
        "请为 API 密钥输入一个名称",
        "Which project?",
    ],
)
def test_a_message_that_mentions_a_secret_does_not_ask(text):
    assert asks("secrets", "message", text) is None


@pytest.mark.parametrize(
    "text",
    [
        *("Card number", "CVV", "Kreditkartennummer", "Numéro de carte bancaire", "银行卡号"),
        *("クレジットカード番号", "Номер карты", "Número de tarjeta", "카드 번호", "Kaartnummer"),
    ],
)
def test_a_title_asks_for_payment_data(text):
    assert asks("payment", "title", text) is not None


@pytest.mark.parametrize(
    "text",
    [
        *("Amount", "IBAN", "Expiry date", "Credit card type", "Library card number"),
        *("Last four digits of the card number", "Letzte vier Ziffern der Kartennummer"),
        *("Mitgliedskartennummer", "会员卡号", "信用卡后四位", "Номер карты лояльности"),
        *("Business card color", "Invoice number", "Card color"),
    ],
)
def test_what_only_describes_a_payment_is_no_payment_data(text):
    assert asks("payment", "title", text) is None


@pytest.mark.parametrize(
    "text",
    [
        *("Verification code from SMS", "One-time code", "OTP", "2FA code", "Recovery code"),
        *("Einmalpasswort", "TAN", "mTAN", "Код из СМС", "Código de verificación"),
        *("Code de vérification", "短信验证码", "確認コード", "인증번호"),
    ],
)
def test_a_title_asks_for_a_code(text):
    assert asks("codes", "title", text) is not None


@pytest.mark.parametrize(
    "text",
    [
        "Zip code",
        "Source code",
        "Tan",
        "TAN SHOES FOR SUMMER",
        "Promo code",
        "验证码",
        "图形验证码",
    ],
)
def test_other_codes_are_harmless(text):
    assert asks("codes", "title", text) is None


def test_a_description_of_where_a_code_goes_asks_for_none():
    assert asks("codes", "description", "We will send a verification code to this number") is None
    assert asks("codes", "description", "Phone number to receive the verification code") is None
    assert asks("codes", "description", "На этот номер будет отправлен код подтверждения") is None
    assert asks("codes", "description", "Enter the verification code we sent to your phone")


def test_the_chinese_word_for_a_captcha_is_ambiguous():
    assert asks("perhaps_codes", "title", "验证码")
    assert asks("perhaps_codes", "title", "图形验证码") is None
    assert asks("perhaps_codes", "description", "请勿填写短信验证码。") is None
    assert asks("perhaps_codes", "message", "我们已向您的手机发送验证码，请输入")
    assert speaks_of_delivery("已发送到您的手机")
    assert not speaks_of_delivery("请看图片")


@pytest.mark.parametrize(
    "text",
    [
        "password, enter no " * 50_000,
        "密码" * 300_000,
        ", " * 400_000 + "password",
        "pas " * 200_000,
        "\ufdfa" * 100_000,
        "é" + "a" * 1_000_000,
    ],
    ids=["words", "signs", "commas", "beginnings", "expanding", "letters"],
)
def test_a_hostile_text_costs_little(text):
    asks("secrets", "message", "warm up")
    assert seconds_of(lambda: asks("secrets", "message", text)) < 2


def test_a_polite_word_after_a_comma_is_a_request():
    assert asks("secrets", "message", "Your API key, please.") is not None
    assert asks("secrets", "message", "Your API key is fine, please choose a project.") is None


def test_what_is_done_with_a_key_does_not_ask_for_it():
    assert asks("secrets", "message", "Provide a reason for rotating the API key.") is None


@pytest.mark.parametrize(
    "text",
    [
        *("Please paste the contents of your private key", "Enter a list of API keys, one a line"),
        *("The API key is missing, please enter it", "Please send confirmation of your password"),
        *("Communiquez-nous votre clé secrète", "Nous avons besoin de votre mot de passe"),
        *("Por favor, indíquenos su clave de acceso", "Introduzca el valor de la clave API"),
        *("Bitte den Wert des API-Schlüssels eingeben", "Voer de API key in"),
        *("请输入API密钥的值。", "请粘贴私钥的内容。", "パスワードのみ入力してください"),
        *("APIキーの値を入力してください。", "パスワードのご入力をお願いします。"),
    ],
)
def test_what_a_secret_consists_of_is_the_secret(text):
    assert asks("secrets", "message", text) is not None


@pytest.mark.parametrize(
    "text",
    [
        *(
            "Give your new API key a name.",
            "Enter the environment variable that holds the API key.",
        ),
        *("Enter the maximum age of passwords.", "Please enter the region of the access key."),
        "Please enter the name under which the password should be saved.",
        "Enter the e-mail address of the account whose password you lost.",
        *("Укажите путь к файлу с закрытым ключом.", "Укажите, сколько дней действует пароль."),
        *("Введите описание для токена доступа.", "Пожалуйста, укажите, как назвать ключ API."),
        "Geben Sie einen Namen für den API-Schlüssel ein.",
        "Bitte geben Sie die E-Mail-Adresse an, an die das Passwort gesendet wird.",
        "Bitte geben Sie die Gültigkeitsdauer des Zugriffstokens ein.",
        "Indiquez l'adresse à laquelle envoyer le mot de passe.",
        *("Indiquez la durée de validité du jeton d'accès.", "Indique la duración del token."),
        *("Introduzca una descripción para la clave API.", "Inserisci la durata della password."),
        *("Voer de naam van de API-sleutel in.", "Informe a data de criação da senha."),
        *("请输入API密钥的描述。", "请填写访问令牌的有效期（天）。", "请填写密钥的用途。"),
        "パスワードを送信するメールアドレスを入力してください。",
        *("APIキーの説明を入力してください。", "削除するAPIキーのIDを入力してください。"),
    ],
)
def test_what_is_only_said_of_a_secret_is_none(text):
    assert asks("secrets", "message", text) is None


@pytest.mark.parametrize(
    "text",
    [
        *("Name shown next to the API key", "How many characters the password must have"),
        *("E-mail for password recovery", "Почта для восстановления пароля", "SSH key comment"),
        *("Name of the environment variable that holds the API key", "密码子", "Parola da cercare"),
        *(
            "Hasło przewodnie",
            "Публичный SSH-ключ",
            "Clé SSH publique",
            "Öffentlicher SSH-Schlüssel",
        ),
        *("Owner of the API key", "Non inserire la parola d'ordine.", "パスワードの複雑さ"),
    ],
)
def test_a_description_may_speak_of_secrets(text):
    assert asks("secrets", "description", text) is None


def test_a_hyphen_may_say_the_same_once_more():
    assert asks("payment", "title", "CVV-Code")
    assert asks("payment", "title", "CVC-код")
    assert asks("codes", "title", "OTP-Code")
    assert asks("secrets", "title", "Passwort-Eingabe")
    assert asks("secrets", "title", "Passwort-Länge") is None


def test_a_number_may_be_a_pin_in_either_alphabet():
    for text in ("PIN-код", "Пин-код", "Ihre PIN", "Su PIN"):
        word = asks("secrets", "title", text)
        assert word is not None, text
        assert word.numeric, text


@pytest.mark.parametrize(
    "text",
    [
        *("Number of your credit card", "Expiry date of your credit card", "Номер вашей карты"),
        *("Nummer Ihrer Kreditkarte", "Numéro à 16 chiffres de votre carte bancaire"),
        *("Número de la tarjeta de crédito", "クレジットカードの番号", "信用卡的号码"),
    ],
)
def test_the_number_of_a_card_is_payment_data(text):
    assert asks("payment", "title", text) is not None


def test_what_is_said_of_a_card_is_no_payment_data():
    for text in ("Type of credit card", "Issuer of the credit card", "クレジットカードの種類"):
        assert asks("payment", "title", text) is None
    for text in ("Номер счётчика", "Номер счёта на оплату", "Landkartennummer"):
        assert asks("payment", "title", text) is None


def test_the_first_word_of_a_term_may_be_a_plural_too():
    for text in ("Chaves de API", "Clés d'API", "Claves de acceso", "Chiavi API"):
        assert asks("secrets", "title", text), text
    for text in ("Codes de récupération", "Códigos de verificación", "Einmalpasswörter"):
        assert asks("codes", "title", text), text
    assert asks("secrets", "title", "Clear API cache") is None


def test_a_word_may_be_cut_or_joined_by_a_hyphen():
    for text in ("Kreditkarten-Nummer", "Kreditkartennr.", "Nº de tarjeta", "N° de carte"):
        assert asks("payment", "title", text), text
    assert asks("codes", "title", "Bestätigungs-Code")


def test_an_interrupted_negation_goes_on():
    never = "Please do not, under any circumstances, enter your password."
    assert asks("secrets", "message", never) is None
    assert asks("secrets", "message", "Never, ever type your password here.") is None
    assert asks("secrets", "message", "If you do not, enter your password.")
    assert asks("secrets", "message", "Never mind, enter your password.")


def test_what_was_named_in_the_sentence_before_is_asked_for():
    sent = "We sent a verification code to your phone. Please enter it below."
    assert asks("codes", "message", sent)
    assert asks("codes", "message", "我们已向您的手机发送了一次性密码。请输入。")
    assert asks("codes", "message", "We sent a verification code. Please enter the city.") is None


def test_where_a_code_goes_is_not_the_code():
    where = "Where should we send the verification code? Enter an e-mail address."
    assert asks("codes", "message", where) is None
    assert asks("codes", "description", "Telefonnummer für den SMS-Code") is None
    assert asks("payment", "message", "Enter the amount to charge to the credit card.") is None


@pytest.mark.parametrize(
    "text",
    [
        "Bitte geben Sie keine Passwörter, Zugangsdaten oder Kreditkartennummern ein.",
        "Bitte keine Passwörter, Zugangsdaten oder Kreditkartennummern eingeben.",
        "Passwörter, Zugangsdaten oder Kreditkartennummern bitte nicht eingeben.",
        "Пароли, учётные данные и номера карт указывать нельзя.",
        "Passwords, access tokens and card numbers must not be entered here.",
        "Please omit passwords, access tokens and card numbers.",
        "パスワード、カード番号などは入力しないでください。",
        "密码、卡号请勿填写。",
        "Contraseñas, claves privadas o números de tarjeta no se deben introducir.",
        "Les mots de passe, clés privées ou numéros de carte ne sont jamais demandés.",
    ],
)
def test_what_is_said_of_a_list_is_said_of_each(text):
    assert asks("secrets", "description", text) is None
    assert asks("payment", "description", text) is None


def test_what_only_follows_a_comma_is_no_list():
    assert asks("secrets", "description", "API key, not the client id")
    assert asks("secrets", "description", "Пароль, не короче 8 символов")
    assert asks("secrets", "message", "Do not use spaces, and enter your password.")
    assert asks("secrets", "message", "Don't worry, we only need your name and your password.")


def test_friends_are_asked_as_strangers_are():
    for text in ("Dime tu contraseña", "Donne-moi ton mot de passe", "Sag mir dein Passwort"):
        assert asks("secrets", "message", text), text
    for text in ("Скажи пароль", "Dimmi la tua password", "Type the 12 words of your seed phrase"):
        assert asks("secrets", "message", text), text
