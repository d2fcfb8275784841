import type { Patch } from "./bundle.js";

/** A fault that the gateway had, and how to put it back. */
export interface OldFault {
	readonly name: string;
	/** The commit that fixed it; absent: found by this simulation. */
	readonly commit?: string;
	/** The first seed that finds it, with 30 steps. */
	readonly seed: number;
	readonly patches: readonly Patch[];
}

const CLUSTER = "gateway/src/cluster";

/** `npm run simulate -- --fault NAME` shows how many seeds find one of them. */
export const OLD_FAULTS: readonly OldFault[] = [
	{
		name: "late-close",
		commit: "f56a1fce",
		seed: 7,
		patches: [
			{
				file: `${CLUSTER}/remote-transport.ts`,
				from: "		this.onclose?.();\n",
				to: "		setImmediate(() => setImmediate(() => this.onclose?.()));\n",
			},
			{
				file: "mcp-manager/src/core/server.ts",
				from: "		this.disconnect();\n		this.#session = session;",
				to: "		this.#session = session;",
			},
		],
	},
	{
		name: "stale-entries",
		seed: 19,
		patches: [{ file: `${CLUSTER}/cluster.ts`, from: "		this.#remotes.reset();\n", to: "" }],
	},
	{
		name: "watches-left",
		seed: 1,
		patches: [
			{
				file: `${CLUSTER}/cluster.ts`,
				from: '		this.#connection.abort(new Error("the connection to NATS is lost"));\n',
				to: "",
			},
		],
	},
	{
		name: "blocked-names",
		seed: 27,
		patches: [
			{
				file: "mcp-manager/src/core/server-directory.ts",
				from: "this.#prepare(server, edit, this.#settings.has(owner) ? server.id : owner)",
				to: "this.#prepare(server, edit)",
			},
		],
	},
	{
		name: "unread-name",
		commit: "17b9eb31",
		seed: 131,
		patches: [{ file: `${CLUSTER}/claims.ts`, from: "			this.#options.onEntry(entry, revision);\n", to: "" }],
	},
	{
		name: "lost-edit",
		commit: "17b9eb31",
		seed: 9,
		patches: [
			{
				file: `${CLUSTER}/edits.ts`,
				from: "if (alias === entry.alias && aliasSetAt === (entry.aliasSetAt ?? 0)) {",
				to: 'if (id !== "") {',
			},
		],
	},
	{
		name: "doubled-event",
		seed: 63,
		patches: [
			{ file: `${CLUSTER}/shared-events.ts`, from: "id: id ?? randomUUID() });\n", to: "id: id as string });\n" },
			{
				file: `${CLUSTER}/event-stream.ts`,
				from: "{ timeout: STORE_TIME, msgID }",
				to: "{ timeout: STORE_TIME, ...(msgID && { msgID }) }",
			},
		],
	},
	{
		name: "entered-twice",
		seed: 200_039_476,
		patches: [
			{
				file: `${CLUSTER}/cluster.ts`,
				from: "if (this.#connection === connection) {\n				await",
				to: "{\n				await",
			},
			{
				file: `${CLUSTER}/cluster.ts`,
				from: "this.#enter(buckets, connection.signal);\n			}",
				to: "this.#enter(buckets, this.#connection.signal);\n			}",
			},
		],
	},
	{
		name: "reused-revision",
		seed: 200_103_583,
		patches: [
			{
				file: `${CLUSTER}/cluster.ts`,
				from: "		this.#claims.recheck();\n		this.#buckets = buckets;\n",
				to: "		this.#buckets = buckets;\n",
			},
			{
				file: `${CLUSTER}/cluster.ts`,
				from: "		await this.#follower.start(buckets, connection);\n",
				to: "		await this.#follower.start(buckets, connection);\n		this.#claims.recheck();\n",
			},
		],
	},
	{
		name: "lost-name",
		seed: 100_209_919,
		patches: [
			{
				file: `${CLUSTER}/remotes.ts`,
				from: "rival.entry.alias !== alias && registry.find(id)?.alias !== alias",
				to: "false",
			},
		],
	},
	{
		name: "freed-name",
		seed: 200_327_520,
		patches: [
			{
				file: "mcp-manager/src/core/server-directory.ts",
				from: "alias !== undefined && this.#servers.get(id)?.alias !== alias",
				to: "alias !== undefined",
			},
		],
	},
];
