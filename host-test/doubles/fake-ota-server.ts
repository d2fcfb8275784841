import type { Application } from "../../src/core/application.js";
import type { SearchEvents } from "../../src/core/backend.js";
import { Bootstrap } from "../../src/features/bootstrap/bootstrap.js";
import type { BootstrapConfig } from "../../src/features/bootstrap/bootstrap-report.js";
import { expectOk } from "../../src/features/http.js";
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
		const status = typeof answer === "number" ? answer : 200;
		return expectOk({ status, body: ArrayBuffer.fromString(text) }, request);
	}
}

export async function bootstrap(
	server: FakeOtaServer,
	config: Partial<BootstrapConfig> = {},
	events: Partial<SearchEvents> = {},
	settings = new FakeSettings(),
) {
	const timer = new FakeTimer();
	const times: number[][] = [];
	const clock = { set: (...time: number[]) => times.push(time) };
	const board = Object.assign(new FakeBoard(settings), { clock, http: server });
	const log: string[] = [];
	const heard: unknown[] = [];
	const signed: ArrayBuffer[][] = [];
	const hmacSha256 = async (...args: [ArrayBuffer, ArrayBuffer]): Promise<ArrayBuffer> => {
		signed.push(args);
		return Uint8Array.of(0, 1, 0xfe, 0xff).buffer;
	};
	const app = { board, timer, log: (line: string) => void log.push(line), backend: { uuid: "u-1" } };
	const started = new Bootstrap(
		app as unknown as Application,
		{ otaUrl: OTA_URL, otaInterval: 86_400, serialNumber: "", hmacKey: undefined, language: "en", ...config },
		hmacSha256,
		{
			onBackend: (backend) => void heard.push(backend),
			onActivation: (code, message) => void heard.push({ code, message }),
			onActivated: () => void heard.push("activated"),
			onFirmware: async ({ url }) => void heard.push(`firmware ${url}`),
			onMissing: (message) => void heard.push(message),
			onFailed: ({ message }, retryIn) => void heard.push([message, retryIn]),
			...events,
		},
		() => 1 - Number.EPSILON,
	);
	started.start();
	await settled();
	const pass = async (milliseconds: number): Promise<void> => {
		timer.pass(milliseconds);
		await settled();
	};
	return { bootstrap: started, server, board, timer, log, heard, times, signed, pass };
}
