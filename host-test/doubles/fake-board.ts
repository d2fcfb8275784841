import type {
	Board,
	Face,
	HttpRequest,
	HttpResponse,
	Settings,
	SettingValue,
	Theme,
} from "../../src/hardware/hardware.js";
import { FakePlayer } from "./fake-player.js";

/** A store in memory. */
export class FakeSettings implements Settings {
	readonly values = new Map<string, SettingValue>();

	get(domain: string, key: string): SettingValue | undefined {
		return this.values.get(`${domain}/${key}`);
	}

	set(domain: string, key: string, value: SettingValue): void {
		this.values.set(`${domain}/${key}`, value);
	}

	delete(domain: string, key: string): void {
		this.values.delete(`${domain}/${key}`);
	}
}

/** A board with every part, which remembers what was done to it. */
export class FakeBoard implements Board {
	readonly name = "fake";
	readonly settings: FakeSettings;
	readonly shown: Partial<Face>[] = [];
	readonly requests: HttpRequest[] = [];
	readonly restarts: number[] = [];
	readonly pictures: ArrayBuffer[] = [];
	readonly snapshots: number[] = [];
	response: HttpResponse = { status: 200, body: new ArrayBuffer(0) };
	upgradeFails = false;
	closed = false;
	readonly speaker = { volume: 70 };
	readonly player = new FakePlayer();
	readonly screen = {
		width: 320,
		height: 240,
		monochrome: false,
		brightness: 75,
		theme: "light" as Theme,
		show: (change: Partial<Face>): void => {
			this.shown.push(change);
		},
	};
	readonly snapshot = {
		take: async (quality: number): Promise<ArrayBuffer> => {
			this.snapshots.push(quality);
			return ArrayBuffer.fromString("SCREEN");
		},
	};
	readonly preview = {
		show: async (picture: ArrayBuffer): Promise<void> => {
			this.pictures.push(picture);
		},
	};
	readonly camera = { capture: async (): Promise<ArrayBuffer> => ArrayBuffer.fromString("PHOTO") };
	readonly battery = { level: 88, charging: true };
	readonly network = {
		type: "wifi" as const,
		ssid: "home",
		rssi: -60,
		online: true,
		onChange: undefined as (() => void) | undefined,
	};
	readonly thermometer = { temperature: 41.5 };
	readonly system = {
		macAddress: "02:00:00:00:00:01",
		info: () => ({ flash_size: 4_194_304 }),
		restart: (delay: number): void => {
			this.restarts.push(delay);
		},
	};
	readonly updater = {
		upgrade: async (): Promise<void> => {
			if (this.upgradeFails) {
				throw new Error("no such firmware");
			}
		},
	};
	readonly http = {
		request: async (request: HttpRequest): Promise<HttpResponse> => {
			this.requests.push(request);
			return this.response;
		},
	};

	constructor(settings = new FakeSettings()) {
		this.settings = settings;
	}

	close(): void {
		this.closed = true;
	}
}
