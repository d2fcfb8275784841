import { type ChildProcess, spawn } from "node:child_process";
import { once } from "node:events";
import { rmSync } from "node:fs";
import { createConnection } from "node:net";
import { dirname } from "node:path";
import type { TestContext } from "node:test";

export class LocalServer {
	readonly port: number;
	readonly #command: readonly [program: string, config: string];
	readonly #ready: "connect" | "data";
	#process: ChildProcess | undefined;

	/**
	 * @param config path of the server's configuration, in a separate folder
	 * @param ready the event of a connection to a running server: "data" where the server speaks first
	 */
	constructor(port: number, program: string, config: string, ready: "connect" | "data") {
		this.port = port;
		this.#command = [program, config];
		this.#ready = ready;
	}

	async runFor(test: Pick<TestContext, "after">): Promise<this> {
		test.after(async () => {
			await this.kill();
			rmSync(dirname(this.#command[1]), { recursive: true, maxRetries: 10 });
		});
		await this.run();
		return this;
	}

	async run(): Promise<void> {
		const [program, config] = this.#command;
		this.#process = spawn(program, ["-c", config], { stdio: "ignore" });
		while (!(await this.#answers())) {
			await new Promise((resolve) => setTimeout(resolve, 20));
		}
	}

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
			socket.once(this.#ready, () => {
				socket.destroy();
				resolve(true);
			});
			socket.once("error", () => resolve(false));
		});
	}
}
