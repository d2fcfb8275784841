import type {
	Board,
	Face,
	HttpRequest,
	HttpResponse,
	Settings,
	SettingValue,
	Theme,
} from "../../src/hardware/hardware.js";
import { type ByteSource, HeldBytes, type PictureSink, readWhole } from "../../src/hardware/pictures.js";
import type { FirmwareSource, UpdateProgress } from "../../src/hardware/updater.js";
import { FakePlayer } from "./fake-player.js";

export class FakeSettings implements Settings {
	readonly values = new Map<string, SettingValue>();

	get(domain: string, key: string): SettingValue | undefined {
		return this.values.get(`${domain}/${key}`);
	}

	set(domain: string, key: string, value: SettingValue): boolean {
		this.values.set(`${domain}/${key}`, value);
		return true;
	}

	delete(domain: string, key: string): void {
		this.values.delete(`${domain}/${key}`);
	}
}

export class FakeBoard implements Board {
	readonly name = "fake";
	readonly settings: FakeSettings;
	readonly shown: Partial<Face>[] = [];
	readonly requests: HttpRequest[] = [];
	readonly restarts: number[] = [];
	readonly resets: string[] = [];
	readonly bodies: string[] = [];
	readonly pictures: string[] = [];
	cancelled = 0;
	open = 0;
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
		take: async (quality: number): Promise<ByteSource> => {
			this.snapshots.push(quality);
			return this.#picture("SCREEN");
		},
	};
	readonly preview = {
		begin: (): PictureSink => {
			let text = "";
			return {
				write: (piece) => {
					text += String.fromArrayBuffer(piece);
				},
				end: async () => {
					this.pictures.push(text);
				},
				cancel: () => {
					this.cancelled += 1;
				},
			};
		},
	};
	readonly camera = { capture: async (): Promise<ByteSource> => this.#picture("PHOTO") };
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
		factoryReset: (): void => {
			this.resets.push("reset");
		},
	};
	readonly installed: FirmwareSource[] = [];
	readonly installer = {
		install: async (source: FirmwareSource, onProgress?: UpdateProgress): Promise<void> => {
			this.installed.push(source);
			onProgress?.(1, 2);
			if (this.upgradeFails) {
				throw new Error("no such firmware");
			}
		},
	};
	readonly http = {
		request: async (request: HttpRequest): Promise<HttpResponse> => {
			this.requests.push(request);
			let body = "";
			for (const part of request.body ?? []) {
				body += String.fromArrayBuffer(part instanceof ArrayBuffer ? part : await readWhole(part, 1_000));
			}
			this.bodies.push(body);
			if (request.onPiece !== undefined && this.response.status === 200) {
				await request.onPiece(this.response.body, this.response.body.byteLength);
			}
			return this.response;
		},
	};

	constructor(settings = new FakeSettings()) {
		this.settings = settings;
	}

	close(): void {
		this.closed = true;
	}

	#picture(text: string): ByteSource {
		this.open += 1;
		let isOpen = true;
		return new HeldBytes(new Uint8Array(ArrayBuffer.fromString(text)), () => {
			this.open -= isOpen ? 1 : 0;
			isOpen = false;
		});
	}
}
