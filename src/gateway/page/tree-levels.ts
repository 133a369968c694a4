// The shape of one tree, level by level, as a table with bars: written here, so that it is there without the script, which asks for it again as a
// fragment to keep it current. The figures are those of collStats with `verbose`.

import type { TreeLevel } from '../server-status.ts';
import { describeBytes, escapeHtml } from './html.ts';

/** Which tree. */
export interface ChosenTree {
  readonly ns: string;
  readonly index: string;
}

/** The panel; `levels` undefined: there is no such tree. */
export function levelsPanel({ ns, index }: ChosenTree, levels: readonly TreeLevel[] | undefined): string {
  const title = `${escapeHtml(ns)} <span class="index">${escapeHtml(index)}</span>`;
  const close = '<a class="action" href="/status">Close</a>';
  const body = levels === undefined ? '<p class="empty-words">There is no such tree any more.</p>' : table(levels);
  return `<section class="panel levels" id="levels" aria-labelledby="levels-title" data-ns="${escapeHtml(ns)}" data-index="${escapeHtml(index)}"><header><h2 id="levels-title" tabindex="-1">Levels of ${title}</h2>${close}</header>${body}</section>`;
}

function table(levels: readonly TreeLevel[]): string {
  const most = Math.max(1, ...levels.map(({ rawBytes }) => rawBytes));
  const rows = levels.map((level) => levelRow(level, levels.length, most));
  return `<div class="scroll"><table><caption class="hidden-words">From the memory above the root down to the leaves</caption>
<thead><tr><th class="name" scope="col">Level</th><th class="size" scope="col">Nodes</th><th class="size" scope="col">Full</th><th class="size" scope="col">Waiting messages</th><th class="size" scope="col">Runs</th><th class="size" scope="col">Data</th><th class="size" scope="col">On disk</th></tr></thead>
<tbody>
${rows.join('\n')}
</tbody></table></div>`;
}

function levelRow(level: TreeLevel, levels: number, most: number): string {
  const { kind, nodes, messages, runs, rawBytes, diskBytes, fill } = level;
  const waits = kind !== 'leaves';
  const width = Math.max(1, Math.round((100 * rawBytes) / most));
  const filled = rawBytes === 0 ? 0 : Math.min(100, Math.round((100 * diskBytes) / rawBytes));
  const bar = rawBytes === 0 ? '' : `<svg class="bar" viewBox="0 0 100 5" preserveAspectRatio="none" aria-hidden="true"><rect width="${width}" height="5"></rect><rect class="filled" width="${Math.round((width * filled) / 100)}" height="5"></rect></svg>`;
  const ratio = diskBytes > 0 ? ` (${(rawBytes / diskBytes).toFixed(2)}×)` : '';
  const cells = [nodes.toLocaleString('en'), fill === undefined ? '–' : `${Math.round(fill * 100)} %`, waits ? messages.toLocaleString('en') : '–', kind === 'nodes' ? runs.toLocaleString('en') : '–', rawBytes === 0 ? '–' : describeBytes(rawBytes)];
  return `<tr><th class="name" scope="row">${levelName(level, levels)}</th>${cells.map((cell) => `<td class="size">${cell}</td>`).join('')}<td class="size">${diskBytes > 0 ? `${describeBytes(diskBytes)}${ratio}` : whereNoDisk(rawBytes)}${bar}</td></tr>`;
}

const whereNoDisk = (rawBytes: number): string => (rawBytes > 0 ? 'in memory' : '–');

/** In words; the node below the fronts is the root. */
function levelName({ kind, height }: TreeLevel, levels: number): string {
  if (kind === 'fronts') return 'Fronts, in memory';
  if (kind === 'leaves') return height === levels - 2 ? 'Root leaf' : 'Leaves';
  return height === levels - 2 ? 'Root' : `Nodes of height ${height}`;
}
