import type { Patch } from "./bundle.js";

/** A fault that the gateway had, and how to put it back. */
export interface OldFault {
	readonly name: string;
	/** The first seed that finds it, with 30 steps. */
	readonly seed: number;
	readonly patches: readonly Patch[];
}

const CLUSTER = "gateway/src/cluster";

/** `npm run simulate -- --fault NAME` shows how many seeds find one of them. */
export const OLD_FAULTS: readonly OldFault[] = [
	{
		name: "late-close",
		seed: 7,
		patches: [
			{
				file: "mcp-manager/src/core/connection.ts",
				from: "			this.server?.lost(this, reason);\n",
				to: "			setImmediate(() => setImmediate(() => this.server?.lost(this, reason)));\n",
			},
			{
				file: "mcp-manager/src/core/server.ts",
				from: "		this.disconnect();\n		this.#connection = connection;",
				to: "		this.#connection = connection;",
			},
		],
	},
	{
		name: "stale-entries",
		seed: 10,
		patches: [
			{
				file: `${CLUSTER}/nats-store.ts`,
				from: "this.replace(entries, undefined, isSame);",
				to: "for (const each of entries.values()) this.apply(each.key, each);",
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
		name: "code-used-twice",
		seed: 24,
		patches: [
			{
				file: "gateway/src/config/sign-in-code.ts",
				from: "store.delete(KEY, entry.revision)",
				to: "store.delete(KEY)",
			},
		],
	},
	{
		name: "lost-name",
		seed: 666,
		patches: [
			{ file: "mcp-manager/src/core/aliases.ts", from: "{ device: id, isDefault: true }", to: "{ device: id }" },
		],
	},
	{
		name: "half-known-device",
		seed: 27,
		patches: [
			{
				file: "mcp-manager/src/core/registry.ts",
				from: "			this.#onRecord(id, this.#store.get(DEVICE + id));\n		} else if",
				to: "		} else if",
			},
		],
	},
	{
		name: "claim-left",
		seed: 227,
		patches: [
			{
				file: `${CLUSTER}/claims.ts`,
				from: "entry !== undefined && !isOurs &&",
				to: "entry !== undefined && found?.claim !== claim.id &&",
			},
		],
	},
	{
		name: "endless-renewals",
		seed: 1,
		patches: [
			{ file: `${CLUSTER}/cluster.ts`, from: "this.#renewing ??= this.#renew()", to: "this.#renewing = this.#renew()" },
		],
	},
	{
		name: "connection-left",
		seed: 1,
		patches: [
			{
				file: "gateway/src/store/open-stores.ts",
				from: "		await connection.close();\n		throw error;",
				to: "		throw error;",
			},
		],
	},
	{
		name: "replaced-session",
		seed: 490,
		patches: [
			{
				file: "mcp-manager/src/core/server.ts",
				from: "if (connection !== this.#connection) {",
				to: "if (connection === undefined) {",
			},
		],
	},
	{
		name: "refused-forget",
		seed: 957,
		patches: [
			{
				file: "mcp-manager/src/core/registry.ts",
				from: "			await this.#store.delete(DEVICE + id);\n",
				to: "			this.#unsaved.delete(id);\n			await this.#store.delete(DEVICE + id);\n",
			},
		],
	},
	{
		name: "nobodys-record",
		seed: 4654,
		patches: [
			{
				file: "mcp-manager/src/core/registry.ts",
				from: "isTheirs = before !== undefined && ",
				to: "isTheirs = ",
			},
		],
	},
	{
		name: "named-unknown",
		seed: 9096,
		patches: [
			{
				file: "mcp-manager/src/core/registry.ts",
				from: "if (!this.#servers.has(id)) {",
				to: "if (id === undefined) {",
			},
		],
	},
	{
		name: "claim-removed",
		seed: 17428,
		patches: [{ file: `${CLUSTER}/claims.ts`, from: " || store.get(CLAIM + server.id) === undefined;", to: ";" }],
	},
	{
		name: "late-record",
		seed: 834,
		patches: [
			{
				file: "mcp-manager/src/core/registry.ts",
				from: "this.#change(id, () => this.#write(id))",
				to: "this.#write(id)",
			},
			{
				file: "mcp-manager/src/core/registry.ts",
				from: "			this.#onRecord(id, this.#store.get(DEVICE + id));\n			await this.#removeNames(id);\n",
				to: "			await this.#removeNames(id);\n			this.#remove(id);\n",
			},
		],
	},
];
