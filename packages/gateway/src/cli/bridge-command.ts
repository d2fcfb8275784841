import { setTimeout as delay } from "node:timers/promises";
import type { Command } from "commander";
import { isObject } from "xs-mcp-firmware/core/text/json";
import { EXIT, GatewayError } from "../gateway-error.js";
import {
	type CatalogFlags,
	type ClientFlags,
	clientFor,
	type GatewayAddress,
	type Message,
	withAddress,
	withCatalog,
} from "./gateway-client.js";
import { Relay } from "./relay.js";

/** Milliseconds between attempts to reach a gateway. */
const RETRY_DELAY = 1_000;

/** Milliseconds for the first attempt, so that the client's first tool list is complete if a gateway is running. */
const FIRST_ATTEMPT = 5_000;

/** Milliseconds for answers after the client has closed its end: twice the gateway's default `callTimeout`. */
const LAST_ANSWERS = 60_000;

/** Adds the command with which hosts connect to a running gateway. */
export function addBridgeCommand(program: Command): void {
	withCatalog(withAddress(program.command("stdio")))
		.description("Connect one MCP client, over standard input and output, to a running gateway")
		.argument("[device]", "Alias or id; default: all devices")
		.action(runBridge);
}

/**
 * Connects the client that started this process to the gateway that the options name, until the client disconnects. The
 * gateway may start later. If the URL or the token is wrong, or the device is unknown, requests of the client are answered
 * with that error, because hosts show nothing of a process that just ends.
 */
async function runBridge(device: string | undefined, options: ClientFlags & CatalogFlags): Promise<void> {
	const report = ({ message }: Error): void => console.error(`xs-mcp-gateway: ${message}`);
	const gone = new Promise<unknown>((resolve) => {
		process.stdout.on("error", resolve);
		process.on("SIGINT", resolve);
		process.on("SIGTERM", resolve);
	});
	const relay = new Relay({ send: (message) => void process.stdout.write(`${JSON.stringify(message)}\n`) });
	let code: number = EXIT.ok;
	const firstAttempt = new Promise<void>((resolve) => {
		const onRetry = (error: Error): void => resolve(report(error));
		const reached = waitForGateway(async () => await clientFor(options).address(device, options), onRetry).catch(
			(error: Error) => {
				report(error);
				code = EXIT.failed;
				return new GatewayError("rejected", error.message, { status: 0 });
			},
		);
		void reached.then((address) => {
			relay.gateway = address;
			resolve();
		});
	});
	await Promise.race([firstAttempt, delay(FIRST_ATTEMPT)]);
	const received = receive((message) => relay.receive(message), report);
	await Promise.race([received.then(() => relay.settled(LAST_ANSWERS)), gone]);
	await relay.close();
	// The last answer may not be written yet, where pipes are asynchronous.
	process.stdout.write("", () => process.exit(code));
}

/**
 * Tries until a gateway answers. Rejects if it answers with an error.
 *
 * @param onRetry is called with the reason when the first attempt has failed
 */
export async function waitForGateway(
	open: () => Promise<GatewayAddress>,
	onRetry: (error: Error) => void,
): Promise<GatewayAddress> {
	for (let isFirst = true; ; isFirst = false) {
		try {
			return await open();
		} catch (error) {
			if (!(error instanceof GatewayError) || error.code !== "unreachable") {
				throw error;
			}
			if (isFirst) {
				onRetry(new Error(`${error.message}. Retrying`));
			}
		}
		await delay(RETRY_DELAY);
	}
}

/** Reads the client's messages until it closes its end. Not readline: that takes U+2028 in a message for its end. */
async function receive(onMessage: (message: Message) => void, report: (error: Error) => void): Promise<void> {
	let rest = "";
	for await (const chunk of process.stdin.setEncoding("utf8")) {
		const lines = `${rest}${chunk}`.split("\n");
		rest = lines.pop() ?? "";
		for (const line of lines.filter((each) => each.trim() !== "")) {
			try {
				const message: unknown = JSON.parse(line);
				if (!isObject(message)) {
					throw new Error("message dropped: not JSON-RPC");
				}
				// Some clients write null for an absent member. The gateway reads the other members.
				const { params, error, ...others } = message;
				onMessage({
					...others,
					...(params !== null && { params }),
					...(error !== null && { error }),
				} as unknown as Message);
			} catch (error) {
				report(error as Error);
			}
		}
	}
}
