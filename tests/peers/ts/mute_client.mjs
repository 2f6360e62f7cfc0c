// A client of the TypeScript SDK that can answer nothing, and so declares nothing.
// mute_client.mjs URL MODE; MODE is a revision, `auto` or `legacy`.  In place of the URL may stand the
// command line of a server, as a JSON array.  Prints what came of its calls.
import { Client, StreamableHTTPClientTransport } from '@modelcontextprotocol/client';
import { StdioClientTransport } from '@modelcontextprotocol/client/stdio';

function transportTo(target) {
  if (!target.startsWith('[')) return new StreamableHTTPClientTransport(new URL(target));
  const [command, ...args] = JSON.parse(target);
  return new StdioClientTransport({ command, args });
}

const [url, mode] = process.argv.slice(2);
const versionNegotiation = { mode: /^\d/.test(mode) ? { pin: mode } : mode };
const client = new Client({ name: 'mute-client', version: '1' }, { versionNegotiation });
const transport = transportTo(url);
await client.connect(transport);
const results = [];
for (const [name, args] of [['add', { a: 2, b: 3 }], ['book', { guests: 2 }], ['sign_in', { user: 'ada' }]]) {
  try {
    const result = await client.callTool({ name, arguments: args });
    results.push([Boolean(result.isError), ...result.content.map((block) => block.text)]);
  } catch (error) {
    results.push([error.code, error.message]);
  }
}
const version = client.getNegotiatedProtocolVersion();
if (transport.sessionId) await transport.terminateSession();
await client.close();
console.log(JSON.stringify([{ version, results }]));
process.exit(0);
