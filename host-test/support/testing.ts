import { once } from "node:events";
import { mkdtempSync, rmSync } from "node:fs";
import type { IncomingMessage } from "node:http";
import type { AddressInfo, Server, Socket } from "node:net";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { it, type TestContext } from "node:test";
import { setImmediate as turn } from "node:timers/promises";
import getPort, { portNumbers } from "get-port";
import { WebSocketServer } from "ws";

/** Milliseconds after which a wait is given up. Only a fault takes so long, also on a busy machine. */
const MAX_WAIT = 300_000;

const POLL_INTERVAL = 5;

export async function until(holds: () => boolean | Promise<boolean>, what: string): Promise<void> {
	const end = performance.now() + MAX_WAIT;
	while (!(await holds())) {
		if (performance.now() > end) {
			throw new Error(`not within ${MAX_WAIT / 1000} s: ${what}`);
		}
		await new Promise((resolve) => setTimeout(resolve, POLL_INTERVAL));
	}
}

const folders = new Set<string>();

/** A new folder for a test. It stays until this process ends, because programs of a test may write into it until then. */
export function temporaryFolder(prefix = "xs-mcp-"): string {
	const folder = mkdtempSync(join(tmpdir(), prefix));
	if (folders.size === 0) {
		process.once("exit", removeFolders);
	}
	folders.add(folder);
	return folder;
}

function removeFolders(): void {
	for (const folder of folders) {
		rmSync(folder, { recursive: true, force: true, maxRetries: 5 });
	}
}

export async function listen(
	test: Pick<TestContext, "after">,
	server: Server & { closeAllConnections?(): void; keepAliveTimeout?: number },
	port = 0,
): Promise<number> {
	// On a busy computer, a client could send a request while the server closes an idle connection.
	server.keepAliveTimeout = 0;
	await once(server.listen(port, "127.0.0.1"), "listening");
	test.after(() => {
		server.close();
		server.closeAllConnections?.();
	});
	return (server.address() as AddressInfo).port;
}

export async function listenForSockets(
	test: Pick<TestContext, "after">,
	port = 0,
): Promise<{ server: WebSocketServer; url: string }> {
	const server = new WebSocketServer({ port, host: "127.0.0.1" });
	await once(server, "listening");
	test.after(() => {
		for (const socket of server.clients) {
			socket.terminate();
		}
		server.close();
	});
	return { server, url: `ws://127.0.0.1:${(server.address() as AddressInfo).port}/` };
}

/**
 * A free port of this machine for a server that starts later. It is below the ephemeral ports (Linux: from 32,768), so
 * that no connection takes it meanwhile.
 */
export async function freePort(): Promise<number> {
	const first = 10_000 + Math.floor(Math.random() * 20_000);
	return await getPort({ port: portNumbers(first, first + 100), host: "127.0.0.1" });
}

/**
 * Returns the option `skip` of tests that need a program of this machine: an engine, a broker, NATS, a browser. In CI it
 * must exist: tests that are left out in silence protect nothing.
 */
export function skipIf(why: string | false | undefined): string | false {
	if (why && process.env.CI === "true") {
		throw new Error(`needed in CI (.ci/run installs it; CI=false runs the tests without): ${why}`);
	}
	return why || false;
}

/** Options of a request that takes a second, unless the computer is busy: the default of clients is 30 or 60 s. */
export const PATIENT = { timeout: 300_000 };

/** Waits until a socket is closed, also by a reset, for which `once(socket, "close")` would reject. */
export async function untilClosed(socket: Socket): Promise<void> {
	await new Promise<void>((resolve, reject) => {
		socket.on("error", (error: NodeJS.ErrnoException) => {
			if (error.code !== "ECONNRESET" && error.code !== "EPIPE") {
				reject(error);
			}
		});
		socket.once("close", () => resolve());
	});
}

export async function readForm(request: IncomingMessage): Promise<FormData> {
	const headers = { "content-type": request.headers["content-type"] ?? "" };
	return await new Response(request as never, { headers }).formData();
}

export async function fileIn(form: FormData): Promise<Buffer> {
	return Buffer.from(await (form.get("file") as File).arrayBuffer());
}

const STEP = 1_000;

/**
 * Advances time, without waiting, until an action settles that ends by a timeout. Only timers that are
 * set meanwhile, in this process, run by this time.
 */
export async function passTime<T>(t: TestContext, start: () => Promise<T>): Promise<T> {
	t.mock.timers.enable({ apis: ["setTimeout"] });
	try {
		let isPending = true;
		const promise = start().finally(() => {
			isPending = false;
		});
		promise.catch(() => {});
		while (isPending) {
			t.mock.timers.tick(STEP);
			await turn();
		}
		return await promise;
	} finally {
		t.mock.timers.reset();
	}
}

/** Makes an `it` whose tests get a new arrangement each. */
export const testWith =
	<Made>(arrange: (t: TestContext) => Promise<Made>) =>
	(title: string, test: (made: Made, t: TestContext) => Promise<void> | void): void =>
		void it(title, async (t) => await test(await arrange(t), t));
