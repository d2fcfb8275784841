import type { StartedProgram } from "./program.js";

export interface InputClient {
	readonly id: string;
	readonly clientId: string;
}

export const BOARD: InputClient = { id: "aa:bb:cc:00:00:04", clientId: "5c2b0a9e-4a5e-4f0a-9a51-0f7b7a3e7f11" };

interface BootstrapReply {
	readonly status: number;
	// biome-ignore lint/suspicious/noExplicitAny: tests read members that may not be there, and fail if they are not.
	readonly body: any;
}

function headersOf({ id, clientId }: InputClient, more: Record<string, string> = {}): Record<string, string> {
	return {
		"Activation-Version": "1",
		"Device-Id": id,
		"Client-Id": clientId,
		"User-Agent": "bread-compact-wifi/1.8.2",
		"Accept-Language": "en-US",
		"Content-Type": "application/json",
		...more,
	};
}

export function systemInfo({ id, clientId }: InputClient, version = "1.8.2"): object {
	return {
		version: 2,
		language: "en-US",
		flash_size: 16_777_216,
		minimum_free_heap_size: "8318916",
		mac_address: id,
		uuid: clientId,
		chip_model_name: "esp32s3",
		chip_info: { model: 9, cores: 2, revision: 2, features: 18 },
		application: { name: "xiaozhi", version, compile_time: "Jun  1 2025T10:00:00Z", idf_version: "v5.4.1" },
		partition_table: [],
		ota: { label: "ota_0" },
		board: {
			type: "bread-compact-wifi",
			name: "bread-compact-wifi",
			ssid: "home",
			rssi: -51,
			channel: 6,
			ip: "192.168.1.9",
		},
	};
}

export async function bootstrap(
	{ base }: Pick<StartedProgram, "base">,
	inputClient: InputClient,
	{ body = systemInfo(inputClient), headers = {} }: { body?: unknown; headers?: Record<string, string> } = {},
): Promise<BootstrapReply> {
	const init = { method: "POST", headers: headersOf(inputClient, headers), body: JSON.stringify(body) };
	return await replyOf(fetch(`${base}/xiaozhi/ota/`, init));
}

export async function activate({ base }: Pick<StartedProgram, "base">, inputClient: InputClient): Promise<number> {
	const init = { method: "POST", headers: headersOf(inputClient), body: "{}" };
	return (await replyOf(fetch(`${base}/xiaozhi/ota/activate`, init))).status;
}

export async function replyOf(response: Promise<Response>): Promise<BootstrapReply> {
	const { status, ...rest } = { status: (await response).status, text: await (await response).text() };
	return { status, body: rest.text === "" ? undefined : JSON.parse(rest.text) };
}
