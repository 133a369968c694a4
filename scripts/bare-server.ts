// A server that answers every message of the protocol with the same document and does nothing: what sockets, Node and the driver's manners cost any
// server. `server-cpu.ts` starts it and measures it the same way. Prints its address as `frond serve` does.

import { createServer } from 'node:net';
import { BsonArray, Document, Double } from '../src/bson/index.ts';
import { encodeAnswer, MessageReader, parseMessage } from '../src/wire/index.ts';

const hello = Document.of({ ismaster: true, isWritablePrimary: true, maxBsonObjectSize: 16_777_216, maxMessageSizeBytes: 48_000_000, maxWriteBatchSize: 100_000, minWireVersion: 0, maxWireVersion: 21, readOnly: false, ok: new Double(1) });
const done = Document.of({ n: 1, cursor: Document.of({ firstBatch: BsonArray.empty, id: 0n, ns: 'a.b' }), ok: new Double(1) });

const server = createServer({ noDelay: true }, (socket) => {
  const reader = new MessageReader();
  socket.on('data', (chunk: Uint8Array) => {
    reader.push(chunk);
    for (let bytes = reader.next(); bytes !== undefined; bytes = reader.next()) {
      const message = parseMessage(bytes, []);
      const name = message.body.first?.[0].toLowerCase();
      const reply = name === 'hello' || name === 'ismaster' ? hello : done;
      for (const part of encodeAnswer(message, { requestId: 1, moreToCome: false }, reply, [])) socket.write(part);
    }
  });
  socket.on('error', () => socket.destroy());
});
server.listen(0, '127.0.0.1', () => {
  const address = server.address();
  if (address !== null && typeof address === 'object') console.log(`listening on mongodb://127.0.0.1:${String(address.port)}/`);
});
process.once('SIGTERM', () => process.exit(0));
