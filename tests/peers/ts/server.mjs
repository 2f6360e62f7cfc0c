// A server of the TypeScript SDK that asks in the middle of calls, in either era.
// Prints {"url": ...} once it listens, on a port the system chose; ends on SIGTERM.  With --stdio it
// speaks over its standard streams.
import { randomUUID } from 'node:crypto';
import { createServer } from 'node:http';
import { NodeStreamableHTTPServerTransport, toNodeHandler, toWebRequest } from '@modelcontextprotocol/node';
import {
  acceptedContent, createMcpHandler, createRequestStateCodec, inputRequired, inputResponse, isInitializeRequest,
  isLegacyRequest, McpServer,
} from '@modelcontextprotocol/server';
import { serveStdio } from '@modelcontextprotocol/server/stdio';
import * as z from 'zod/v4';

const PAGE = 'https://id.example.test/start';
const codec = createRequestStateCodec({ key: 'a-key-of-thirty-two-bytes-or-more' });
const schema = (properties, ...required) => ({ type: 'object', properties, required });
const DAY = schema({ day: { type: 'string', enum: ['mon', 'tue'] } }, 'day');
const SEAT = schema({ seat: { type: 'string' }, window: { type: 'boolean', default: false } }, 'seat');
const text = (words) => ({ content: [{ type: 'text', text: words }] });
const dayWords = (guests) => `Which day for ${guests} guests?`;
const seatWords = (day) => `Which seat on ${day}?`;

async function bookStateless(guests, ctx) {
  const answers = ctx.mcpReq.inputResponses;
  const state = ctx.mcpReq.requestState() ?? {};
  const answered = inputResponse(answers, 'day');
  if (answered.kind === 'elicit' && answered.action !== 'accept') return text(`not booked: ${answered.action}`);
  const day = state.day ?? acceptedContent(answers, 'day')?.day;
  const ask = async (key, message, requestedSchema, keep) =>
    inputRequired({ inputRequests: { [key]: inputRequired.elicit({ message, requestedSchema }) }, requestState: await codec.mint(keep, ctx) });
  if (!day) return ask('day', dayWords(guests), DAY, { asked: 'day' });
  const seat = inputResponse(answers, 'seat');
  if (seat.kind === 'missing') return ask('seat', seatWords(day), SEAT, { day });
  return text(seat.action === 'accept' ? `${guests} guests on ${day}, seat ${seat.content.seat}` : `not booked: ${seat.action}`);
}

async function bookInSession(guests, ctx) {
  const ask = (message, requestedSchema) => ctx.mcpReq.elicitInput({ mode: 'form', message, requestedSchema });
  const day = await ask(dayWords(guests), DAY);
  if (day.action !== 'accept') return text(`not booked: ${day.action}`);
  const seat = await ask(seatWords(day.content.day), SEAT);
  return text(seat.action === 'accept' ? `${guests} guests on ${day.content.day}, seat ${seat.content.seat}` : `not booked: ${seat.action}`);
}

async function signInStateless(user, ctx) {
  const page = inputResponse(ctx.mcpReq.inputResponses, 'page');
  if (page.kind !== 'missing') return text(`${user}: ${page.action}`);
  const asked = inputRequired.elicitUrl({ message: 'Sign in', url: PAGE });
  return inputRequired({ inputRequests: { page: asked }, requestState: await codec.mint({ user }, ctx) });
}

async function signInInSession(user, ctx) {
  const page = await ctx.mcpReq.elicitInput({ mode: 'url', message: 'Sign in', url: PAGE, elicitationId: 'visit-1' });
  return text(`${user}: ${page.action}`);
}

function build({ era }) {
  const old = era === 'legacy';
  const server = new McpServer({ name: 'peer-ts', version: '1.0' }, { capabilities: { tools: {} }, requestState: { verify: codec.verify } });
  const tool = (name, shape, run) => server.registerTool(name, { inputSchema: z.object(shape) }, run);
  tool('add', { a: z.number(), b: z.number() }, async ({ a, b }) => text(String(a + b)));
  tool('book', { guests: z.number().int() }, ({ guests }, ctx) => (old ? bookInSession : bookStateless)(guests, ctx));
  tool('sign_in', { user: z.string() }, ({ user }, ctx) => (old ? signInInSession : signInStateless)(user, ctx));
  return server;
}

const stateless = toNodeHandler(createMcpHandler(build, { legacy: 'reject' }));
const sessions = new Map();

async function inSession(req, res, body) {
  let transport = sessions.get(req.headers['mcp-session-id']);
  if (!transport) {
    if (!isInitializeRequest(body)) return void res.writeHead(404).end();
    transport = new NodeStreamableHTTPServerTransport({
      sessionIdGenerator: () => randomUUID(),
      onsessioninitialized: (id) => sessions.set(id, transport),
    });
    await build({ era: 'legacy' }).connect(transport);
  }
  await transport.handleRequest(req, res, body);
}

const listening = createServer(async (req, res) => {
  const request = await toWebRequest(req);
  const old = await isLegacyRequest(request);
  const body = req.method === 'POST' ? await request.json() : undefined;
  await (old ? inSession : stateless)(req, res, body);
});
if (process.argv.includes('--stdio')) serveStdio(build);
else listening.listen(0, '127.0.0.1', () => console.log(JSON.stringify({ url: `http://127.0.0.1:${listening.address().port}/mcp` })));
process.on('SIGTERM', () => process.exit(0));
