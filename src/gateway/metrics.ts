// What is counted, for programs: as JSON for the status page, and in the text format of Prometheus. The numbers are those of serverStatus, for they
// come from the same counters; nothing is counted twice.

import type { Exchange } from './exchange.ts';
import { currentCounters } from './gateway-parts.ts';
import type { GatewayParts } from './gateway-parts.ts';
import type { TreeStatus } from './server-status.ts';

/** GET /status.json. */
export async function answerStatusData(parts: GatewayParts, exchange: Exchange): Promise<void> {
  const status = await parts.status?.();
  exchange.sendJson(200, {}, JSON.stringify({ nowMs: parts.clock.nowMs(), gateway: currentCounters(parts), ...status }));
}

/** Sections of serverStatus that are told, and the first part of their names. */
const sections: Readonly<Record<string, string>> = {
  frond: 'engine', opcounters: 'operations', connections: 'connections', network: 'network', mem: 'memory', opLatencies: 'latency', transactions: 'transactions', asserts: 'asserts', globalLock: 'lock', metrics: 'metrics',
};

/** Numbers that go up and down; all others only grow. */
const gauges = /_(?:current|available|active|resident|virtual|bits|bytes_max|bytes_used|front_bytes|write_set_bytes|open_\w+|data_file_bytes|freeable_bytes|log_bytes_on_disk|dictionaries|last_checkpoint_ms|held_bytes|readers|writers|total|pinned|no_timeout|uptime|rows|height|leaves|raw_bytes|disk_bytes)$/;

/** GET /metrics (https://prometheus.io/docs/instrumenting/exposition_formats). */
export async function answerMetrics(parts: GatewayParts, exchange: Exchange): Promise<void> {
  const status = await parts.status?.();
  const lines: string[] = [];
  const add = (name: string, value: unknown): void => {
    if (typeof value === 'number' && Number.isFinite(value)) lines.push(`# TYPE ${name} ${gauges.test(name) ? 'gauge' : 'counter'}`, `${name} ${value}`);
    else if (typeof value === 'object' && value !== null && !Array.isArray(value)) for (const [inner, one] of Object.entries(value)) add(`${name}_${snake(inner)}`, one);
  };
  add('frond_gateway', currentCounters(parts));
  if (status !== undefined) {
    add('frond_uptime', status.server['uptime']);
    for (const [section, name] of Object.entries(sections)) add(`frond_${name}`, status.server[section]);
    lines.push(...treeLines(status.trees));
  }
  exchange.send(200, { 'Content-Type': 'text/plain; version=0.0.4; charset=utf-8', 'Cache-Control': 'no-store' }, `${lines.join('\n')}\n`);
}

function treeLines(trees: readonly TreeStatus[]): readonly string[] {
  const fields = ['rows', 'height', 'leaves', 'rawBytes', 'diskBytes'] as const;
  return fields.flatMap((field) => {
    const name = `frond_tree_${snake(field)}`;
    return [`# TYPE ${name} gauge`, ...trees.map((tree) => `${name}{ns=${JSON.stringify(tree.ns)},index=${JSON.stringify(tree.name)}} ${tree[field]}`)];
  });
}

const snake = (name: string): string => name.replace(/[^A-Za-z0-9]+/g, '_').replace(/([a-z0-9])([A-Z])/g, '$1_$2').toLowerCase();
