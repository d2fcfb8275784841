import { existsSync, rmSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import type { TestContext } from "node:test";
import { Kvm } from "@nats-io/kv";
import { connect, type NatsConnection, type NodeConnectionOptions } from "@nats-io/transport-node";
import { LocalServer } from "../../../host-test/support/local-server.js";
import { freePort, skipIf, temporaryFolder } from "../../../host-test/support/testing.js";

/** Where Debian and Homebrew put the server. */
const PROGRAM = ["/usr/sbin/nats-server", "/usr/local/bin/nats-server", "/opt/homebrew/bin/nats-server"].find(
	existsSync,
);

/** Why there is no nats-server to test with; false when there is. */
export const whyNoNats = skipIf(PROGRAM === undefined && "nats-server is not installed");

/** A nats-server with JetStream on this machine. */
export class NatsServer extends LocalServer {
	#store = "";

	/**
	 * Starts a server that is killed with its test.
	 *
	 * @param more lines of its configuration
	 */
	static async start(test: Pick<TestContext, "after">, more = ""): Promise<NatsServer> {
		const folder = temporaryFolder("xs-mcp-nats-");
		const port = await freePort();
		const config = join(folder, "nats.conf");
		writeFileSync(config, `listen: "127.0.0.1:${port}"\njetstream { store_dir: "${folder}" }\n${more}\n`);
		const server = new NatsServer(port, PROGRAM as string, config, "data");
		server.#store = join(folder, "jetstream");
		return await server.runFor(test);
	}

	/** A connection that is closed with its test. */
	async connect(t: TestContext, options: NodeConnectionOptions = {}): Promise<NatsConnection> {
		const connection = await connect({ servers: this.url, ...options });
		t.after(() => connection.close());
		return connection;
	}

	/** Its buckets, over a connection that is closed with its test. */
	async openBuckets(t: TestContext): Promise<Kvm> {
		return new Kvm(await this.connect(t));
	}

	/** Kills the server, and removes everything that it has stored. */
	async loseDisk(): Promise<void> {
		await this.kill();
		rmSync(this.#store, { recursive: true, maxRetries: 10 });
	}

	get url(): string {
		return `nats://127.0.0.1:${this.port}`;
	}
}
