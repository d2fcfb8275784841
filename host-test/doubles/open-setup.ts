import type { Button } from "../../src/hardware/button.js";
import type { SetupNotice } from "../../src/hardware/wifi-setup.js";
import { SettingError } from "../../src/settings/setting-error.js";
import { openSetup, type PhoneSetup } from "../../src/setup/phone-setup.js";
import type { SetupOptions } from "../../src/setup/setup-options.js";
import { settled } from "../harness.js";
import type { Wire } from "./client.js";
import { FakeAccessPoint } from "./fake-access-point.js";
import { FakeBoard } from "./fake-board.js";
import { type FakeHttpConnection, FakeHttpPlatform } from "./fake-http-server.js";
import { FakeTimer } from "./fake-timer.js";

interface Response {
	readonly status: number | undefined;
	readonly headers: ReadonlyMap<string, string>;
	readonly text: string;
}

interface SetupChoice extends Pick<SetupOptions, "routeOf" | "listGateways" | "isSafe"> {
	readonly built?: object;
	readonly screen?: boolean;
	readonly bootButton?: () => Button;
}

export function browserOf(platform: FakeHttpPlatform) {
	const ask = async (
		method: string,
		path: string,
		{ headers = {}, body = "" }: { headers?: Readonly<Record<string, string>>; body?: string } = {},
	): Promise<Response> => {
		const connection: FakeHttpConnection = platform.connect();
		const length: Record<string, string> =
			body === "" ? {} : { "content-length": String(ArrayBuffer.fromString(body).byteLength) };
		connection.begin({ host: "192.0.2.7", ...length, ...headers }, method, path);
		if (body !== "") {
			connection.arrive(body);
		}
		connection.end();
		await settled();
		connection.grant();
		const { response, sent } = connection;
		return { status: response?.status, headers: response?.headers ?? new Map(), text: sent };
	};
	const submit = async (values: object): Promise<{ status: number | undefined; body: unknown }> => {
		const { formToken } = JSON.parse((await ask("GET", "/settings")).text);
		const headers = { "x-form-token": formToken, origin: "http://192.0.2.7" };
		const { status, text } = await ask("POST", "/settings", { headers, body: JSON.stringify(values) });
		return { status, body: JSON.parse(text) };
	};
	return { ask, submit };
}

export function makeSetup({ built = {}, screen = true, bootButton, ...more }: SetupChoice = {}) {
	const timer = new FakeTimer();
	const platform = new FakeHttpPlatform();
	const accessPoint = new FakeAccessPoint();
	const { settings, screen: fakeScreen, system, resets } = new FakeBoard();
	const boot: Button = { onPress: undefined };
	const begins = new Set<(isFallback: boolean) => void>();
	const log: string[] = [];
	const shown: (SetupNotice | undefined)[] = [];
	const ends: boolean[] = [];
	const alerts: string[] = [];
	const counts = { needed: 0 };
	const board = {
		accessPoint,
		settings,
		system,
		bootButton: bootButton ?? (() => boot),
		...(screen && { screen: fakeScreen }),
	};
	const setup = openSetup(platform, {
		board,
		built: { backend: "ws://old/", ...built },
		timer,
		deviceId: "02:12:34:56:78:9a",
		check: (settings) => {
			const backend = settings.get("xs-mcp", "backend");
			if (typeof backend === "string" && !backend.startsWith("ws")) {
				throw new SettingError("backend", `expected ws://, got ${backend}`);
			}
		},
		random: () => 0.5,
		...more,
		log: (line) => log.push(line),
	})?.({
		onNeeded: (isFallback) => {
			counts.needed += 1;
			for (const begin of begins) {
				begin(isFallback);
			}
		},
		onAlert: (message) => alerts.push(message),
		onShow: (notice) => shown.push(notice),
		onEnd: (restart) => ends.push(restart),
	}) as PhoneSetup;

	const { ask, submit } = browserOf(platform);
	const join = async (values: object): Promise<void> => {
		await submit(values);
		accessPoint.finish(true);
		await settled();
	};
	const status = async (): Promise<Wire> => JSON.parse((await ask("GET", "/status")).text);
	return {
		setup,
		ask,
		submit,
		join,
		status,
		timer,
		platform,
		accessPoint,
		settings,
		log,
		shown,
		alerts,
		ends,
		counts,
		begins,
		boot,
		resets,
	};
}

export function beginSetup(options?: SetupChoice) {
	const made = makeSetup(options);
	made.setup.begin();
	return made;
}
