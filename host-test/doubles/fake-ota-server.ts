import { Bootstrap, type BootstrapOptions } from "../../src/backend/bootstrap/bootstrap.js";
import type { BootstrapConfig } from "../../src/backend/bootstrap/bootstrap-report.js";
import type { Http, HttpRequest, HttpResponse } from "../../src/hardware/hardware.js";
import { settled } from "../harness.js";
import { FakeBoard, FakeSettings } from "./fake-board.js";
import { FakeTimer } from "./fake-timer.js";

export const OTA_URL = "http://ota/xiaozhi/ota/";

/** A server's answer: an object with status 200, a text, a status, or none. */
export type Answer = object | string | number | Error;

export class FakeOtaServer implements Http {
	readonly requests: HttpRequest[] = [];
	readonly answers: Answer[];

	constructor(...answers: Answer[]) {
		this.answers = answers;
	}

	get urls(): string[] {
		return this.requests.map(({ url }) => url);
	}

	body(at: number): unknown {
		return JSON.parse(
			(this.requests[at]?.body ?? []).map((part) => String.fromArrayBuffer(part as ArrayBuffer)).join(""),
		);
	}

	async request(request: HttpRequest): Promise<HttpResponse> {
		this.requests.push(request);
		const answer = (this.answers.length > 1 ? this.answers.shift() : this.answers[0]) ?? 404;
		if (answer instanceof Error) {
			throw answer;
		}
		const text = typeof answer === "object" ? JSON.stringify(answer) : typeof answer === "string" ? answer : "";
		return { status: typeof answer === "number" ? answer : 200, body: ArrayBuffer.fromString(text) };
	}
}

export async function bootstrap(
	server: FakeOtaServer,
	config: Partial<BootstrapConfig> = {},
	options: Partial<BootstrapOptions> = {},
	settings = new FakeSettings(),
) {
	const timer = new FakeTimer();
	const times: number[][] = [];
	const clock = { set: (...time: number[]) => times.push(time) };
	const board = Object.assign(new FakeBoard(settings), { clock });
	const log: string[] = [];
	const heard: unknown[] = [];
	const signed: ArrayBuffer[][] = [];
	const started = new Bootstrap({
		config: { otaUrl: OTA_URL, otaInterval: 86_400, serialNumber: "", hmacKey: undefined, language: "en", ...config },
		board,
		uuid: "u-1",
		http: server,
		hmacSha256: async (...args) => {
			signed.push(args);
			return Uint8Array.of(0, 1, 0xfe, 0xff).buffer;
		},
		timer,
		random: () => 1 - Number.EPSILON,
		log: (line) => log.push(line),
		events: {
			onBackend: (backend) => heard.push(backend),
			onActivation: (code, message) => heard.push({ code, message }),
			onActivated: () => heard.push("activated"),
			onFirmware: async ({ url }) => {
				heard.push(`firmware ${url}`);
			},
			onMissing: (message) => heard.push(message),
			onFailed: ({ message }, retryIn) => heard.push([message, retryIn]),
		},
		...options,
	});
	started.start();
	await settled();
	const pass = async (milliseconds: number): Promise<void> => {
		timer.pass(milliseconds);
		await settled();
	};
	return { bootstrap: started, server, board, timer, log, heard, times, signed, pass };
}
