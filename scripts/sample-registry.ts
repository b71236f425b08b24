// Writes manifests/fleet/registry.json: the catalogue of the sample fleet, in the platform's own format. The servers of
// src/samples are real; every other one is made up: the tables below say what each is for, the rest follows from its name, so
// the output is always the same.

import { spawnSync } from 'node:child_process';
import { writeFileSync } from 'node:fs';
import { fileURLToPath } from 'node:url';
import { VERSION } from '#hosts/version.ts';
import { fnv1a32 } from '#std/hash.ts';

/** Key, what it does, the things its tools work on. */
type Row = readonly [key: string, description: string, things: string];

interface Shelf {
  readonly tags: readonly string[];
  /** What its tools do with the things. */
  readonly verbs: string;
  /** `NAME: description`; a name that ends in KEY, TOKEN, PASSWORD or SECRET is secret. */
  readonly inputs: readonly string[];
  readonly rows: readonly Row[];
}

const READ = 'list get search';
const EDIT = 'list get search create update delete';
const RUN = 'list describe start stop restart';

const CONTAINERS: readonly Shelf[] = [
  {
    tags: ['database', 'sql', 'query'],
    verbs: 'list describe query explain export',
    inputs: ['DB_HOST: Host name of the database', 'DB_USER: User to connect as', 'DB_PASSWORD: Password of the user'],
    rows: [
      ['meadow-sql', 'Queries Meadow SQL databases and explains their plans', 'tables views schemas indexes'],
      ['orchard-db', 'Reads and charts data kept in Orchard column stores', 'tables columns segments'],
      ['bramble-graph', 'Walks Bramble graph databases and answers path questions', 'nodes edges paths labels'],
      ['yarrow-kv', 'Inspects Yarrow key-value stores, their keys and their memory', 'keys streams slots'],
      [
        'thicket-documents',
        'Finds and aggregates documents in Thicket collections',
        'collections documents indexes views',
      ],
    ],
  },
  {
    tags: ['monitoring', 'observability', 'metrics'],
    verbs: 'list get query silence',
    inputs: ['ENDPOINT_URL: Address of the service', 'API_TOKEN: Token of a service account'],
    rows: [
      ['glowworm-metrics', 'Asks Glowworm for metrics and draws them over time', 'metrics series targets rules alerts'],
      ['crowsnest-alerts', 'Shows what Crowsnest alerts about and who is on call', 'alerts rotations incidents'],
      ['brooklet-logs', 'Searches log lines in Brooklet and counts what they say', 'streams lines labels patterns'],
      ['breadcrumb-traces', 'Follows requests through Breadcrumb traces', 'traces spans services operations'],
      ['heartwood-uptime', 'Tells whether sites are up and since when', 'checks sites outages'],
    ],
  },
  {
    tags: ['devops', 'deployment', 'infrastructure'],
    verbs: RUN,
    inputs: ['KUBECONFIG: Path of the file that names the cluster'],
    rows: [
      ['quayside-clusters', 'Looks after clusters that Quayside runs', 'clusters nodes pools versions'],
      ['slipway-deploys', 'Rolls releases out with Slipway, and back again', 'releases stages approvals rollouts'],
      ['ballast-charts', 'Installs and compares Ballast charts', 'charts values revisions'],
      ['moorage-plans', 'Plans infrastructure changes with Moorage', 'plans states modules providers workspaces'],
      ['gangway-images', 'Lists container images and what is inside them', 'images tags layers manifests'],
    ],
  },
  {
    tags: ['source-control', 'repository', 'automation'],
    verbs: EDIT,
    inputs: ['FORGE_URL: Address of the forge', 'FORGE_TOKEN: Access token with read and write scope'],
    rows: [
      [
        'smithy-forge',
        'Works with repositories, issues and merge requests on Smithy',
        'repositories issues merge_requests branches',
      ],
      ['bellows-ci', 'Starts Bellows pipelines and reads their logs', 'pipelines jobs artifacts variables'],
      ['tongs-reviews', 'Brings code reviews from Tongs to the assistant', 'reviews comments approvals'],
      ['coalbin-packages', 'Publishes and searches packages on Coalbin', 'packages versions feeds'],
      ['hammer-commits', 'Reads local Git history: commits, blame and diffs', 'commits branches tags diffs'],
    ],
  },
  {
    tags: ['search', 'web', 'research'],
    verbs: 'search fetch summarize',
    inputs: ['SEARCH_API_KEY: Key of the search service'],
    rows: [
      ['magpie-search', 'Searches the web with Magpie and keeps the sources', 'pages news images videos'],
      ['heron-fetch', 'Fetches pages and hands them over as clean text', 'pages links'],
      ['owl-papers', 'Finds research papers, their authors and citations', 'papers authors citations journals'],
      ['wren-crawler', 'Crawls a site politely and maps it', 'sites pages sitemaps'],
    ],
  },
  {
    tags: ['files', 'storage', 'documents'],
    verbs: 'list read write move delete',
    inputs: ['ROOT_PATH: Folder that may be used'],
    rows: [
      ['burrow-files', 'Reads and writes files below one folder', 'files folders links'],
      ['warren-objects', 'Keeps objects in Warren buckets', 'buckets objects policies'],
      ['den-backups', 'Takes and restores Den backups', 'backups snapshots schedules'],
      ['nest-pdf', 'Reads text, tables and forms out of PDF files', 'pages tables forms annotations'],
    ],
  },
  {
    tags: ['communication', 'messaging', 'collaboration'],
    verbs: 'list read send search',
    inputs: ['WORKSPACE: Name of the workspace', 'BOT_TOKEN: Token of the bot user'],
    rows: [
      ['chirrup-chat', 'Reads and posts messages in Chirrup channels', 'channels messages threads users reactions'],
      ['carrier-mail', 'Sends and files mail through Carrier', 'messages folders attachments'],
      ['murmur-meetings', 'Lists meetings with their notes and recordings', 'meetings notes recordings'],
      ['bulletin-boards', 'Follows discussions on Bulletin boards', 'boards topics posts'],
    ],
  },
  {
    tags: ['project-management', 'tickets', 'planning'],
    verbs: EDIT,
    inputs: [
      'SITE_URL: Address of the site',
      'API_TOKEN: Personal access token',
      'PROJECT: Project that is used by default',
    ],
    rows: [
      ['waggle-tickets', 'Files, finds and moves tickets in Waggle', 'tickets boards sprints comments labels'],
      ['comb-roadmaps', 'Reads and updates Comb roadmaps', 'roadmaps goals milestones'],
      ['forage-tasks', 'Keeps personal and shared task lists', 'tasks lists reminders'],
      ['larkspur-crm', 'Looks up customers and deals in Larkspur', 'contacts companies deals activities'],
      ['pollen-surveys', 'Builds Pollen surveys and reads the answers', 'surveys questions answers'],
    ],
  },
  {
    tags: ['security', 'compliance', 'scanning'],
    verbs: 'list scan explain report',
    inputs: ['SCANNER_URL: Address of the scanner', 'SCANNER_TOKEN: Token with read scope'],
    rows: [
      ['briar-scanner', 'Scans images and repositories for known weaknesses', 'findings images repositories'],
      ['watchdog-secrets', 'Finds passwords and keys that were committed', 'secrets commits rules'],
      ['palisade-policies', 'Checks manifests against Palisade policies', 'policies violations exceptions'],
      ['strongroom-vault', 'Lists what is kept in Strongroom vaults, never the values', 'vaults leases policies'],
      ['gate-identity', 'Looks up users, groups and their access', 'users groups roles sessions'],
    ],
  },
  {
    tags: ['ai', 'machine-learning', 'inference'],
    verbs: 'list get run compare',
    inputs: ['MODELS_URL: Address of the model service', 'MODELS_API_KEY: Key of the model service'],
    rows: [
      ['oakmast-models', 'Finds models and data sets on Oakmast', 'models datasets licenses'],
      ['seedling-training', 'Starts and follows training runs', 'runs metrics checkpoints'],
      ['understory-vectors', 'Searches Understory vector collections by meaning', 'collections vectors filters'],
      ['lichen-images', 'Makes and edits pictures', 'pictures styles masks'],
      ['moss-speech', 'Turns speech into text and text into speech', 'recordings transcripts voices'],
    ],
  },
  {
    tags: ['cloud', 'management', 'api'],
    verbs: RUN,
    inputs: [
      'CLOUD_REGION: Region that is used by default',
      'CLOUD_ACCESS_KEY: Access key',
      'CLOUD_SECRET: Its secret',
    ],
    rows: [
      ['fogbank-compute', 'Manages machines, disks and networks on Fogbank', 'machines disks networks firewalls'],
      ['sleet-functions', 'Deploys and calls Sleet functions', 'functions triggers logs versions'],
      ['overcast-cost', 'Explains what the cloud costs and why', 'bills budgets forecasts'],
      ['hailstone-queues', 'Reads and feeds Hailstone queues', 'queues messages subscriptions'],
      ['haze-dns', 'Edits zones and records, with a look before the leap', 'zones records certificates'],
    ],
  },
  {
    tags: ['browser', 'testing', 'automation'],
    verbs: 'open read click fill capture',
    inputs: [],
    rows: [
      ['glade-browser', 'Drives a browser: opens pages, clicks, fills in forms', 'pages forms dialogs'],
      ['fern-tests', 'Runs end-to-end tests and shows what failed', 'suites cases screenshots'],
      ['dew-accessibility', 'Checks pages for accessibility', 'pages findings'],
      ['reed-load', 'Puts load on a service and measures it', 'scenarios results'],
      ['ivy-mocks', 'Serves made-up APIs for tests', 'routes recordings'],
    ],
  },
  {
    tags: ['data', 'analytics', 'visualization'],
    verbs: 'list query chart export',
    inputs: ['WAREHOUSE: Name of the warehouse', 'WAREHOUSE_PASSWORD: Password of the reader'],
    rows: [
      ['granary-warehouse', 'Queries the Granary warehouse', 'tables queries schedules'],
      ['mill-pipelines', 'Runs Mill data pipelines and checks their output', 'pipelines runs datasets tests'],
      ['sieve-quality', 'Tests data sets against expectations', 'expectations results datasets'],
      ['bobbin-charts', 'Draws charts from tables', 'charts tables palettes'],
      ['countinghouse-sheets', 'Reads and fills spreadsheets', 'sheets cells ranges formulas'],
    ],
  },
  {
    tags: ['documentation', 'knowledge', 'search'],
    verbs: READ,
    inputs: ['WIKI_URL: Address of the wiki', 'WIKI_TOKEN: Token with read scope'],
    rows: [
      ['almanac-wiki', 'Answers from Almanac wiki pages', 'pages spaces comments attachments'],
      [
        'index-docs',
        'Looks up the documentation of libraries in the version that is used',
        'libraries topics examples',
      ],
      ['glossary-terms', 'Explains the words of the house', 'terms synonyms'],
      ['lodestone-apis', 'Finds API descriptions and tries calls out', 'apis operations schemas'],
      ['wayfarer-maps', 'Finds places, routes and distances', 'places routes regions elevations'],
    ],
  },
  {
    tags: ['finance', 'commerce', 'api'],
    verbs: READ,
    inputs: ['SHOP_URL: Address of the shop', 'SHOP_API_KEY: Key with read scope'],
    rows: [
      ['hayloft-shop', 'Looks up products, orders and stock of a Hayloft shop', 'products orders customers stock'],
      ['wax-invoices', 'Finds invoices and what is still unpaid', 'invoices payments reminders'],
      ['propolis-ledger', 'Reads accounts and bookings', 'accounts bookings reports'],
      ['tollgate-payments', 'Explains payments, refunds and disputes', 'payments refunds disputes'],
      ['swarm-markets', 'Follows prices on invented markets', 'prices markets trends'],
    ],
  },
  {
    tags: ['utilities', 'everyday', 'automation'],
    verbs: 'get convert compute',
    inputs: [],
    rows: [
      ['sundial-time', 'Tells the time everywhere and converts between zones', 'times zones durations'],
      ['abacus-math', 'Calculates exactly, with units', 'expressions units'],
      ['weathervane', 'Reports and forecasts the weather', 'forecasts observations warnings'],
      ['quill-text', 'Counts, compares and cleans up text', 'texts encodings differences'],
      ['tinker-home', 'Switches lights and heating in a smart home', 'devices rooms scenes'],
    ],
  },
];

const REMOTES: readonly Shelf[] = [
  {
    tags: ['remote', 'oauth', 'project-management'],
    verbs: EDIT,
    inputs: [],
    rows: [
      ['waggle-tickets-remote', 'Waggle tickets as a hosted service with OAuth', 'tickets boards sprints comments'],
      ['comb-roadmaps-remote', 'Comb roadmaps as a hosted service with OAuth', 'roadmaps goals milestones'],
      ['larkspur-crm-remote', 'Larkspur customers and deals, hosted', 'contacts companies deals'],
      ['almanac-wiki-remote', 'Almanac wiki pages, hosted', 'pages spaces comments'],
      ['meadowlark-calendar-remote', 'Meadowlark calendars, hosted', 'events calendars rooms'],
      ['smithy-forge-remote', 'Smithy repositories and issues, hosted', 'repositories issues merge_requests'],
      ['bobbin-design-remote', 'Reads designs and their components from Bobbin', 'files components styles'],
      ['pollen-surveys-remote', 'Pollen surveys, hosted', 'surveys answers'],
    ],
  },
  {
    tags: ['remote', 'monitoring', 'cloud'],
    verbs: 'list get query',
    inputs: ['X-Api-Key: Key of the account'],
    rows: [
      ['glowworm-metrics-remote', 'Glowworm metrics, hosted', 'metrics series alerts'],
      ['crowsnest-alerts-remote', 'Crowsnest incidents, hosted', 'alerts incidents'],
      ['fogbank-compute-remote', 'Fogbank machines and networks, hosted', 'machines networks'],
      ['overcast-cost-remote', 'Cloud costs explained, hosted', 'bills budgets'],
      ['haze-dns-remote', 'Zones and records, hosted', 'zones records'],
      ['briar-scanner-remote', 'Findings of the Briar scanner, hosted', 'findings images'],
      ['heartwood-uptime-remote', 'Uptime of sites, hosted', 'checks outages'],
    ],
  },
  {
    tags: ['remote', 'search', 'data'],
    verbs: 'search fetch summarize',
    inputs: ['X-Api-Key: Key of the account'],
    rows: [
      ['magpie-search-remote', 'Web search with sources, hosted', 'pages news'],
      ['owl-papers-remote', 'Research papers, hosted', 'papers authors citations'],
      ['index-docs-remote', 'Documentation of libraries, hosted', 'libraries topics'],
      ['oakmast-models-remote', 'Models and data sets, hosted', 'models datasets'],
      ['understory-vectors-remote', 'Search by meaning, hosted', 'collections vectors'],
      ['granary-warehouse-remote', 'Queries the Granary warehouse, hosted', 'tables queries'],
      ['tollgate-payments-remote', 'Payments and refunds, hosted', 'payments refunds'],
    ],
  },
];

/** Server, what it does, its tools, tags: they are in the image of skep and need no network. */
const SAMPLES: readonly (readonly [key: string, description: string, tools: string, tags: string])[] = [
  [
    'handbook',
    'Searches and reads the documentation of skep',
    'search_pages read_page list_pages',
    'search documents skep',
  ],
  [
    'holidays',
    'Works out the public holidays of several countries, for any year',
    'list_holidays next_holiday count_working_days',
    'calendar planning skep',
  ],
  [
    'notes',
    'Keeps notes of Markdown in a folder',
    'list_notes read_note search_notes add_note delete_note',
    'files documents skep',
  ],
];

const DEPRECATED = new Set(['ivy-mocks', 'reed-load']);

/** The whole file. */
export function sampleRegistry(): object {
  return {
    version: '1.0.0',
    last_updated: '2026-11-02T06:00:00Z',
    servers: byKey([...entriesOf(CONTAINERS, container), ...SAMPLES.map(sampleServer)]),
    remote_servers: byKey(entriesOf(REMOTES, remote)),
  };
}

type Item = readonly [key: string, item: object];

function entriesOf(shelves: readonly Shelf[], make: (shelf: Shelf, row: Row) => object): readonly Item[] {
  return shelves.flatMap((shelf) => shelf.rows.map((row): Item => [row[0], make(shelf, row)]));
}

function byKey(items: readonly Item[]): Record<string, object> {
  return Object.fromEntries(items.toSorted(([a], [b]) => (a < b ? -1 : 1)));
}

function sampleServer([key, description, tools, tags]: (typeof SAMPLES)[number]): Item {
  const item = {
    description,
    tier: 'Official',
    status: 'Active',
    transport: 'stdio',
    tools: tools.split(' '),
    metadata: { last_updated: '2026-11-02T06:00:00Z' },
    repository_url: 'https://github.com/skep-dev/skep',
    tags: tags.split(' '),
    image: `ghcr.io/skep-dev/skep:${VERSION}`,
    permissions: { network: { outbound: { allow_host: [], allow_port: [] } } },
    args: ['sample', key],
  };
  return [key, item];
}

function container(shelf: Shelf, row: Row): object {
  const [key] = row;
  const product = key.split('-')[0] ?? key;
  const transport = pick(key, 'transport', ['stdio', 'stdio', 'stdio', 'streamable-http', 'sse'] as const);
  const open = pick(key, 'network', [false, false, true]);
  return {
    ...described(row),
    transport,
    tools: toolsOf(shelf, row),
    metadata: { stars: number(key, 'stars', 4_000), pulls: number(key, 'pulls', 20_000), last_updated: dateOf(key) },
    repository_url: `https://git.example.com/${product}/${key}-mcp`,
    tags: [...shelf.tags, product],
    image: `images.example.com/mcp/${key}:${number(key, 'major', 4)}.${number(key, 'minor', 20)}.${number(key, 'patch', 9)}`,
    ...(transport === 'stdio' ? {} : { target_port: pick(key, 'port', [8000, 8080, 3000]) }),
    permissions: {
      network: {
        outbound: open
          ? { insecure_allow_all: true, allow_port: [443] }
          : { allow_host: [`${product}.example.com`, `.${product}.example.org`], allow_port: [443] },
      },
    },
    ...(shelf.inputs.length > 0 ? { env_vars: shelf.inputs.map((input, index) => inputOf(input, index === 0)) } : {}),
    ...(transport === 'streamable-http' ? { args: ['--transport', 'streamable-http', '--host', '0.0.0.0'] } : {}),
    ...(pick(key, 'signed', [true, false]) ? { provenance: provenanceOf(product) } : {}),
  };
}

function remote(shelf: Shelf, row: Row): object {
  const [key] = row;
  const product = key.split('-')[0] ?? key;
  const host = `https://mcp.${product}.example.com`;
  return {
    ...described(row),
    transport: pick(key, 'transport', ['streamable-http', 'streamable-http', 'streamable-http', 'sse'] as const),
    tools: toolsOf(shelf, row),
    metadata: { stars: number(key, 'stars', 900), last_updated: dateOf(key) },
    tags: [...shelf.tags, product],
    ...(shelf.inputs.length > 0 ? { headers: shelf.inputs.map((input) => inputOf(input, true)) } : {}),
    ...(shelf.tags.includes('oauth')
      ? {
          oauth_config: {
            authorize_url: `https://login.${product}.example.com/oauth/authorize`,
            token_url: `https://login.${product}.example.com/oauth/token`,
            scopes: ['read', 'write'],
            use_pkce: true,
          },
        }
      : {}),
    custom_metadata: { author: `The ${product} team`, homepage: `https://${product}.example.com/mcp` },
    url: `${host}/mcp`,
  };
}

function described([key, description]: Row): object {
  return {
    description,
    tier: pick(key, 'tier', ['Official', 'Official', 'Community']),
    status: DEPRECATED.has(key) ? 'Deprecated' : 'Active',
  };
}

function toolsOf({ verbs }: Shelf, [, , things]: Row): string[] {
  return things.split(' ').flatMap((thing) => verbs.split(' ').map((verb) => `${verb}_${formFor(verb, thing)}`));
}

const FOR_MANY = new Set(['list', 'search', 'query', 'export']);
const WITHOUT_SINGULAR = new Set(['news', 'series']);

/** One searches repositories but gets a repository. */
function formFor(verb: string, things: string): string {
  if (FOR_MANY.has(verb) || WITHOUT_SINGULAR.has(things)) return things;
  return things
    .replace(/ies$/, 'y')
    .replace(/(ch|sh|x|ss)es$/, '$1')
    .replace(/s$/, '');
}

function inputOf(text: string, required: boolean): object {
  const [name = '', description = ''] = text.split(': ');
  const secret = /(KEY|TOKEN|PASSWORD|SECRET|Key)$/.test(name);
  return { name, description, required: required || secret, ...(secret ? { secret: true } : {}) };
}

function provenanceOf(product: string): object {
  return {
    sigstore_url: 'sigstore.example.com',
    repository_uri: `https://git.example.com/${product}`,
    signer_identity: '/.ci/release.yml',
    runner_environment: 'hosted',
    cert_issuer: 'https://token.ci.example.com',
  };
}

function dateOf(key: string): string {
  return `2026-10-${String(number(key, 'day', 28)).padStart(2, '0')}T0${number(key, 'hour', 9)}:00:00Z`;
}

/** 1 to `below`, always the same for a key and a purpose. */
function number(key: string, purpose: string, below: number): number {
  return 1 + (Number.parseInt(fnv1a32(`${key} ${purpose}`), 16) % below);
}

function pick<T>(key: string, purpose: string, choices: readonly [T, ...T[]]): T {
  return choices[number(key, purpose, choices.length) - 1] ?? choices[0];
}

if (import.meta.main) {
  const file = fileURLToPath(new URL('../manifests/fleet/registry.json', import.meta.url));
  writeFileSync(file, `${JSON.stringify(sampleRegistry(), null, 2)}\n`);
  const biome = fileURLToPath(new URL('../node_modules/.bin/biome', import.meta.url));
  process.exitCode = spawnSync(biome, ['format', '--write', file], { stdio: 'inherit' }).status ?? 1;
}
