// A client of the TypeScript SDK that plays the same story at each of the servers it is given.
// client.mjs URL MODE [URL MODE ...]; MODE is a revision, `auto` or `legacy`.  In place of a URL may
// stand the command line of a server, as a JSON array.  Prints a list of what came of each: the
// results, and what it was asked on the way.
import { Client, StreamableHTTPClientTransport } from '@modelcontextprotocol/client';
import { StdioClientTransport } from '@modelcontextprotocol/client/stdio';

const CONTENT = { day: { day: 'tue' }, seat: { seat: '4A' } };

function transportTo(target) {
  if (!target.startsWith('[')) return new StreamableHTTPClientTransport(new URL(target));
  const [command, ...args] = JSON.parse(target);
  return new StdioClientTransport({ command, args });
}

async function play(url, mode) {
  const asked = [];
  let refuse;
  const versionNegotiation = { mode: /^\d/.test(mode) ? { pin: mode } : mode };
  const client = new Client({ name: 'peer-client', version: '1' }, { capabilities: { elicitation: { form: {}, url: {} } }, versionNegotiation });
  client.setRequestHandler('elicitation/create', async ({ params }) => {
    asked.push(params.message);
    const field = params.mode === 'url' ? 'page' : Object.keys(params.requestedSchema.properties)[0];
    if (field === refuse) return { action: 'decline' };
    return field in CONTENT ? { action: 'accept', content: CONTENT[field] } : { action: 'accept' };
  });
  const transport = transportTo(url);
  await client.connect(transport);
  const call = async (name, args) => {
    try {
      const result = await client.callTool({ name, arguments: args });
      return [Boolean(result.isError), ...result.content.map((block) => block.text)];
    } catch (error) {
      return [error.code, error.message];
    }
  };
  const results = [await call('add', { a: 2, b: 3 }), await call('book', { guests: 2 })];
  refuse = 'seat';
  results.push(await call('book', { guests: 3 }), await call('sign_in', { user: 'ada' }));
  refuse = 'page';
  results.push(await call('sign_in', { user: 'bob' }), await call('nothing', {}));
  const version = client.getNegotiatedProtocolVersion();
  if (transport.sessionId) await transport.terminateSession();
  await client.close();
  return { version, results, asked };
}

const found = [];
for (let i = 2; i < process.argv.length; i += 2) found.push(await play(process.argv[i], process.argv[i + 1]));
console.log(JSON.stringify(found));
process.exit(0);
