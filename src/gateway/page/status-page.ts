// The status page: what the server does now, as charts that the script draws and keeps current, and as numbers for those without it. All of it comes
// from the counters of serverStatus (metrics.ts).

import type { Exchange } from '../exchange.ts';
import type { GatewayParts } from '../gateway-parts.ts';
import { currentCounters } from '../gateway-parts.ts';
import { basePath } from '../route.ts';
import type { Route } from '../route.ts';
import type { TreeStatus } from '../server-status.ts';
import { describeBytes, escapeHtml } from './html.ts';
import { pageFields } from './page-answer.ts';
import { levelsPanel } from './tree-levels.ts';

/** GET /status. */
export async function answerStatusPage(parts: GatewayParts, exchange: Exchange, route: Route): Promise<void> {
  const [ns, index] = [route.query.get('tree'), route.query.get('index')];
  const levels = ns === null || index === null || parts.levels === undefined ? undefined : levelsPanel({ ns, index }, await parts.levels(ns, index));
  if (route.query.get('fragment') === 'levels') {
    exchange.send(200, pageFields, levels ?? '');
    return;
  }
  const status = await parts.status?.();
  const rows = (status?.trees ?? []).map(
    (tree) => `<tr><td class="name">${escapeHtml(tree.ns)}</td><td><a class="tree" href="${treeLink(tree)}">${escapeHtml(tree.name)}</a></td><td class="size">${tree.rows.toLocaleString('en')}</td><td class="size">${tree.height}</td><td class="size">${tree.leaves.toLocaleString('en')}</td><td class="size">${describeBytes(tree.rawBytes)}</td><td class="size">${describeBytes(tree.diskBytes)}</td></tr>`,
  );
  exchange.send(200, pageFields, statusHtml(basePath(route.db, parts.dbDefault), { numbers: numberRows(parts, status?.server), trees: rows.join('\n'), levels: levels ?? '', isEmbedded: status !== undefined }));
}

/** Where the levels of a tree are shown. */
const treeLink = ({ ns, name }: TreeStatus): string => escapeHtml(`/status?tree=${encodeURIComponent(ns)}&index=${encodeURIComponent(name)}#levels`);

/** The figures by themselves. */
function numberRows(parts: GatewayParts, server: Readonly<Record<string, unknown>> | undefined): string {
  const flat: string[] = [];
  const add = (name: string, value: unknown): void => {
    if (typeof value === 'number') flat.push(`<tr><td class="name">${escapeHtml(name)}</td><td class="size">${value.toLocaleString('en')}</td></tr>`);
    else if (typeof value === 'object' && value !== null && !Array.isArray(value)) for (const [inner, one] of Object.entries(value)) add(`${name}.${inner}`, one);
  };
  add('gateway', currentCounters(parts));
  for (const section of ['opcounters', 'opLatencies', 'connections', 'network', 'frond', 'mem', 'transactions']) add(section, server?.[section]);
  return flat.join('\n');
}

function statusHtml(base: string, { numbers, trees, levels, isEmbedded }: { readonly numbers: string; readonly trees: string; readonly levels: string; readonly isEmbedded: boolean }): string {
  const treeTable = `<section class="panel"><h2>Trees</h2><div class="scroll"><table class="trees"><caption class="hidden-words">Collections and indexes, the largest first</caption>
<thead><tr><th class="name" scope="col">Collection</th><th scope="col">Index</th><th class="size" scope="col">Rows</th><th class="size" scope="col">Height</th><th class="size" scope="col">Leaves</th><th class="size" scope="col">Data</th><th class="size" scope="col">On disk</th></tr></thead>
<tbody data-trees>
${trees}
</tbody></table></div></section>`;
  return `<!doctype html>
<html lang="en">
<head>
<meta charset="utf-8">
<meta name="viewport" content="width=device-width, initial-scale=1">
<meta name="color-scheme" content="light dark">
<title>Status – FrondDB</title>
<link rel="icon" type="image/svg+xml" href="/favicon.ico">
<link rel="stylesheet" href="/assets/app.css">
<script src="/assets/status.js" type="module"></script>
</head>
<body class="status">
<header class="top">
<h1><span class="brand">FrondDB</span> <span class="where">status</span></h1>
<p class="tools"><span class="pulse needs-script" role="status"></span><a class="action" href="${escapeHtml(`${base}/`)}">Files</a></p>
</header>
<main>
<div class="charts needs-script" aria-label="Charts of the last five minutes"></div>
${isEmbedded ? `${treeTable}
<div class="chosen" data-levels>${levels}</div>` : ''}
<details class="panel numbers"><summary>All numbers</summary><table><caption class="hidden-words">Counters of the server</caption><tbody>
${numbers}
</tbody></table></details>
</main>
</body>
</html>
`;
}
