"""Answering for clients that cannot: rounds of asks are taken off the wire and resolved.

Rules of this room:

- A request goes upstream once; only an `input_required` result makes the tap repeat it, as a new
  request with the answers in it.
- What passes through unchanged stays byte-identical; what changes is one token, spliced in.
- Whatever fails, the client gets an answer: nothing waits without a bound.
"""
