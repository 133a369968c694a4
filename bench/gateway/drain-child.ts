// A client that reads one answer as fast as it comes and keeps nothing: `node drain-child.js PORT PATH` prints the bytes that came. In a process of its own,
// so that its work is not counted as the gateway's.

import { connect } from 'node:net';

const [port, path] = process.argv.slice(2);
const socket = connect(Number(port), '127.0.0.1');
let received = 0;
socket.on('data', (bytes) => {
  received += bytes.length;
});
socket.on('close', () => {
  process.stdout.write(String(received));
});
socket.write(`GET ${path ?? '/'} HTTP/1.1\r\nHost: localhost\r\nConnection: close\r\n\r\n`);
