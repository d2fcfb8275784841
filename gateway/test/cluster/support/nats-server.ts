import { type ChildProcess, spawn } from "node:child_process";
import { once } from "node:events";
import { existsSync, mkdtempSync, rmSync, writeFileSync } from "node:fs";
import { createConnection } from "node:net";
import { tmpdir } from "node:os";
import { join } from "node:path";
import type { TestContext } from "node:test";
import { freePort } from "../../../../host-test/support/port.js";
import { skipIf } from "../../../../host-test/support/skip-if.js";

/** Where Debian and Homebrew put the server. */
const PROGRAM = ["/usr/sbin/nats-server", "/usr/local/bin/nats-server", "/opt/homebrew/bin/nats-server"].find(
	existsSync,
);

/** Why there is no nats-server to test with; false when there is. */
export const whyNoNats = skipIf(PROGRAM === undefined && "nats-server is not installed");

/** A nats-server with JetStream on this machine. */
export class NatsServer {
	readonly port: number;
	readonly #config: string;
	#process: ChildProcess | undefined;

	private constructor(port: number, config: string) {
		this.port = port;
		this.#config = config;
	}

	/**
	 * Starts a server that is killed with its test.
	 *
	 * @param more lines of its configuration
	 */
	static async start(test: Pick<TestContext, "after">, more = ""): Promise<NatsServer> {
		const folder = mkdtempSync(join(tmpdir(), "xs-mcp-nats-"));
		const port = await freePort();
		const config = join(folder, "nats.conf");
		writeFileSync(config, `listen: "127.0.0.1:${port}"\njetstream { store_dir: "${folder}" }\n${more}\n`);
		const server = new NatsServer(port, config);
		test.after(async () => {
			await server.kill();
			rmSync(folder, { recursive: true, maxRetries: 10 });
		});
		await server.run();
		return server;
	}

	get url(): string {
		return `nats://127.0.0.1:${this.port}`;
	}

	/** Starts the server, also again after it was killed. */
	async run(): Promise<void> {
		this.#process = spawn(PROGRAM as string, ["-c", this.#config], { stdio: "ignore" });
		while (!(await this.#answers())) {
			await new Promise((resolve) => setTimeout(resolve, 20));
		}
	}

	/** The server answers nothing until {@link resume}. */
	pause(): void {
		this.#process?.kill("SIGSTOP");
	}

	resume(): void {
		this.#process?.kill("SIGCONT");
	}

	async kill(): Promise<void> {
		const process = this.#process;
		this.#process = undefined;
		if (process !== undefined && process.exitCode === null) {
			const exited = once(process, "exit");
			process.kill("SIGKILL");
			await exited;
		}
	}

	#answers(): Promise<boolean> {
		return new Promise((resolve) => {
			const socket = createConnection(this.port, "127.0.0.1");
			// The server speaks first.
			socket.once("data", () => {
				socket.destroy();
				resolve(true);
			});
			socket.once("error", () => resolve(false));
		});
	}
}
