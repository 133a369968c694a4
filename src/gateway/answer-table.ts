// Who answers what: for each kind of path, the methods it has. Allow and 405 come from here (RFC 9110, 15.5.6); HEAD is GET without the body.

import { answerCheck, answerDocument, answerList, deleteFile } from './file-list.ts';
import { patchFile } from './file-patch.ts';
import { answerFile } from './file-answer.ts';
import type { Exchange } from './exchange.ts';
import type { GatewayParts } from './gateway-parts.ts';
import { answerHealth } from './health.ts';
import { answerMetrics, answerStatusData } from './metrics.ts';
import { answerStatusPage } from './page/status-page.ts';
import { answerPage } from './page/page.ts';
import { answerAsset } from './page/page-answer.ts';
import { answerLink } from './link.ts';
import type { Route, RouteKind } from './route.ts';
import { continueUpload, createUpload, deleteUpload, tellUpload } from './tus.ts';
import { answerForm, answerPut } from './upload.ts';

/** Answers one request, or throws why not. */
export type Answer = (parts: GatewayParts, exchange: Exchange, route: Route) => Promise<void> | void;

/** Methods and who answers them. */
export type Answers = Readonly<Record<string, Answer | undefined>>;

export const answerTable: Readonly<Record<RouteKind, Answers>> = {
  'named-file': { GET: answerFile, PUT: answerPut },
  file: { GET: answerFile },
  files: { GET: answerList, POST: answerForm },
  'file-document': { GET: answerDocument, PATCH: patchFile, DELETE: deleteFile },
  check: { GET: answerCheck },
  link: { POST: answerLink },
  uploads: { POST: createUpload },
  upload: { GET: tellUpload, PATCH: continueUpload, DELETE: deleteUpload },
  health: { GET: answerHealth },
  metrics: { GET: answerMetrics },
  'status-page': { GET: answerStatusPage },
  'status-data': { GET: answerStatusData },
  page: { GET: answerPage },
  asset: { GET: answerAsset },
};

/** The value of Allow. */
export function allowedMethods(answers: Answers): string {
  return Object.keys(answers)
    .flatMap((method) => (method === 'GET' ? ['GET', 'HEAD'] : [method]))
    .concat('OPTIONS')
    .join(', ');
}
