import { createHash } from "node:crypto";
import { existsSync, readdirSync, readFileSync } from "node:fs";
import { join } from "node:path";
import { fileURLToPath } from "node:url";
import { gzipSync } from "node:zlib";
import { HttpError } from "../http/http-error.js";
import { contentTypeOf, pagePolicy } from "../http/page-headers.js";
import type { Route } from "../http/route.js";

/** Where the gateway's bundle has the console: beside itself. */
const BESIDE_BUNDLE = fileURLToPath(new URL("./console/", import.meta.url));

const PAGE = "index.html";
const PANEL = "panel.html";

const POLICY = pagePolicy("'self' data:", "data:");

class ConsoleFile {
	readonly type: string;
	readonly body: Buffer;
	readonly etag: string;
	#compressed: Buffer | undefined;

	constructor(path: string) {
		this.type = contentTypeOf(path);
		this.body = readFileSync(path);
		this.etag = `"${createHash("sha256").update(this.body).digest("base64url").slice(0, 22)}"`;
	}

	/** Made for the first browser: it takes 30 ms, which a start without one need not spend. */
	get compressed(): Buffer {
		this.#compressed ??= gzipSync(this.body, { level: 9 });
		return this.#compressed;
	}
}

/** The files of the console's page, in memory. */
export class ConsoleFiles {
	readonly #files: ReadonlyMap<string, ConsoleFile>;

	private constructor(files: ReadonlyMap<string, ConsoleFile>) {
		this.#files = files;
	}

	/**
	 * Reads the console that `toolchain/bundle.mjs` has made.
	 *
	 * @param folder default: the one beside the gateway's bundle
	 * @returns undefined if there is no such folder: sources that were not bundled have no console
	 */
	static read(folder = BESIDE_BUNDLE): ConsoleFiles | undefined {
		if (!existsSync(join(folder, PAGE))) {
			return undefined;
		}
		return new ConsoleFiles(new Map(readdirSync(folder).map((name) => [name, new ConsoleFile(join(folder, name))])));
	}

	/** The page of a device's panel in chats; undefined if it was not bundled. */
	get panel(): string | undefined {
		return this.#files.get(PANEL)?.body.toString();
	}

	/** `GET /`: the page, which is asked for again each time. */
	readonly page: Route = (c) => {
		c.header("Content-Security-Policy", POLICY);
		return this.#send(c, PAGE, "no-cache");
	};

	/** Names of its scripts and style sheets, which change with their contents. */
	get assets(): readonly string[] {
		return [...this.#files.keys()].filter((name) => /^console-[A-Z0-9]+\.(?:js|css)$/.test(name));
	}

	/** `GET /console/NAME` */
	asset(name: string): Route {
		return (c) => this.#send(c, name, "public, max-age=31536000, immutable");
	}

	#send(c: Parameters<Route>[0], name: string, caching: string): Response {
		const file = this.#files.get(name);
		if (file === undefined) {
			throw new HttpError(404, "not-found", "not found");
		}
		const { type, body, etag } = file;
		c.header("Cache-Control", caching);
		c.header("ETag", etag);
		c.header("Vary", "Accept-Encoding");
		if (c.req.header("If-None-Match") === etag) {
			return c.body(null, 304);
		}
		const isCompressed = /\bgzip\b/.test(c.req.header("Accept-Encoding") ?? "");
		if (isCompressed) {
			c.header("Content-Encoding", "gzip");
		}
		c.header("Content-Type", type);
		return c.body(new Uint8Array(isCompressed ? file.compressed : body));
	}
}
