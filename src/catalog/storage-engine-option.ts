// `storageEngine` and `indexOptionDefaults`. Under `frond` stand this engine's own options (TokuMX's names), for drivers send no index option
// that MongoDB does not know. Those for an engine that is not here are checked as it would check them, kept, and mean nothing. Follows the
// manual's page "create".

import { Document } from '../bson/index.ts';
import type { Value } from '../bson/index.ts';
import { checkDictionaryOption, dictionaryOptionNames } from './dictionary-option.ts';
import { checkFields, wrongType } from './option-check.ts';
import type { Check } from './option-check.ts';
import { badValue, failedToParse, invalidOptions } from './refusal.ts';

/** Keys of a configuration text that are known. */
const configKeys: ReadonlySet<string> = new Set(
  [
    'access_pattern_hint allocation_size app_metadata block_allocation block_compressor cache_resident checksum colgroups collator columns',
    'dictionary encryption exclusive extractor format huffman_key huffman_value ignore_in_memory_cache_size immutable internal_item_max',
    'internal_key_max internal_key_truncate internal_page_max key_format key_gap leaf_item_max leaf_key_max leaf_page_max leaf_value_max log',
    'lsm memory_page_image_max memory_page_max os_cache_dirty_max os_cache_max prefix_compression prefix_compression_min split_deepen_min_child',
    'split_deepen_per_child split_pct source tiered_storage type value_format verbose write_timestamp_usage',
  ]
    .join(' ')
    .split(' '),
);

function checkConfig(value: Value, name: string): void {
  if (typeof value !== 'string') throw wrongType(name, value, 'string');
  if (value.includes('\0')) throw failedToParse('malformed WiredTiger configuration string: it must not contain a NUL byte');
  for (const part of value.split(/,(?![^(]*\))/)) {
    const [key = ''] = part.split('=');
    if (part.trim() !== '' && !configKeys.has(key.trim())) throw badValue(`unknown configuration key: ${key}`);
  }
}

/** What stands under `frond`: how a dictionary is kept, and whether an index holds the documents. */
function checkOwn(settings: Document, name: string): void {
  for (const [key, setting] of settings) {
    if (dictionaryOptionNames.includes(key)) checkDictionaryOption(key, setting, `${name}.frond.${key}`);
    else if (key !== 'clustering') throw invalidOptions(`'${key}' is not a supported option.`);
    else if (typeof setting !== 'boolean') throw wrongType(`${name}.frond.${key}`, setting, 'boolean');
  }
}

/** `{ wiredTiger: { configString: <text> } }`, both of which may be left out, or `{ frond: { … } }`. */
export const storageEngine: Check = (value, name) => {
  if (!(value instanceof Document)) throw wrongType(name, value, 'object');
  for (const [engine, settings] of value) {
    if (!(settings instanceof Document)) throw badValue(`'${name}.${engine}' has to be an embedded document.`);
    if (engine === 'frond') {
      checkOwn(settings, name);
      continue;
    }
    if (engine !== 'wiredTiger') throw invalidOptions(`${engine} is not a registered storage engine for this server`);
    for (const [key, setting] of settings) {
      if (key !== 'configString') throw invalidOptions(`'${key}' is not a supported option.`);
      checkConfig(setting, `${name}.wiredTiger.configString`);
    }
  }
};

const defaultsFields: ReadonlySet<string> = new Set(['storageEngine']);

export const indexOptionDefaults: Check = (value, name) => {
  if (!(value instanceof Document)) throw wrongType(name, value, 'object');
  checkFields(value, defaultsFields, name);
  const engine = value.get('storageEngine');
  if (engine !== undefined && engine !== null) storageEngine(engine, `${name}.storageEngine`);
};
