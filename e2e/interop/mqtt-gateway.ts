import { createHash, createHmac } from "node:crypto";
import { cpSync, mkdirSync, symlinkSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import type { TestContext } from "node:test";
import { Program } from "../../host-test/support/program.js";
import { freePort, temporaryFolder } from "../../host-test/support/testing.js";

/** The gateway wants capitals and small letters, and no word like "test". */
export const SIGNATURE_KEY = "Interop-Signature-Key";

export interface MqttGateway {
	readonly program: Program;
	/** host:port, as a bootstrap answer has it. */
	readonly endpoint: string;
	request(clientId: string, method: string, params: object): Promise<{ status: number; body: ApiAnswer }>;
}

interface ApiAnswer {
	readonly success: boolean;
	// biome-ignore lint/suspicious/noExplicitAny: whatever the device answered
	readonly data?: any;
	readonly error?: string;
}

export async function startMqttGateway(
	test: TestContext,
	checkout: string,
	chatServer: string,
	port?: number,
): Promise<MqttGateway> {
	const folder = temporaryFolder();
	for (const name of ["app.js", "mqtt-protocol.js", "package.json", "utils"]) {
		cpSync(join(checkout, name), join(folder, name), { recursive: true });
	}
	symlinkSync(join(checkout, "node_modules"), join(folder, "node_modules"));
	mkdirSync(join(folder, "config"));
	const config = { production: { chat_servers: [chatServer] }, debug: true, mcp_client: { max_tools_count: 128 } };
	writeFileSync(join(folder, "config", "mqtt.json"), JSON.stringify(config));
	const mqttPort = port ?? (await freePort());
	const apiPort = await freePort();
	const program = await Program.start(["app.js"], (output) => output.includes(`${apiPort}`), {
		cwd: folder,
		env: {
			MQTT_PORT: `${mqttPort}`,
			UDP_PORT: `${mqttPort}`,
			API_PORT: `${apiPort}`,
			PUBLIC_IP: "127.0.0.1",
			MQTT_SIGNATURE_KEY: SIGNATURE_KEY,
			DEBUG_COLORS: "no",
		},
	});
	test.after(() => program.stop("SIGKILL"));
	return {
		program,
		endpoint: `127.0.0.1:${mqttPort}`,
		async request(clientId, method, params) {
			const response = await fetch(`http://127.0.0.1:${apiPort}/api/commands/${encodeURIComponent(clientId)}`, {
				method: "POST",
				headers: { authorization: `Bearer ${dailyToken()}`, "content-type": "application/json" },
				body: JSON.stringify({ type: "mcp", payload: { jsonrpc: "2.0", id: 1, method, params } }),
			});
			return { status: response.status, body: (await response.json()) as ApiAnswer };
		},
	};
}

export function credentials(macAddress: string) {
	const mac = macAddress.replaceAll(":", "_");
	const clientId = `GID_virtual@@@${mac}@@@${mac}`;
	const username = Buffer.from('{"ip":"unknown"}').toString("base64");
	const password = createHmac("sha256", SIGNATURE_KEY).update(`${clientId}|${username}`).digest("base64");
	return { clientId, username, password, publishTopic: "device-server", subscribeTopic: `devices/p2p/${mac}` };
}

/** The gateway takes the day in the time of its machine. */
function dailyToken(): string {
	const now = new Date();
	const two = (part: number): string => `${part}`.padStart(2, "0");
	const day = `${now.getFullYear()}-${two(now.getMonth() + 1)}-${two(now.getDate())}`;
	return createHash("sha256").update(`${day}${SIGNATURE_KEY}`).digest("hex");
}
