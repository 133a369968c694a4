// The public face of the wire: whole messages out of chunks, and back.

export { compressed, encodeAnswer, encodeMessage, encodeQuery } from './encode-message.ts';
export type { MessageIds, MessageOptions, SequenceToSend } from './encode-message.ts';
export { MessageReader } from './message-reader.ts';
export { expandedLength, parseMessage, requestIdOf } from './wire-message.ts';
export type { WireCodec, WireMessage } from './wire-message.ts';
