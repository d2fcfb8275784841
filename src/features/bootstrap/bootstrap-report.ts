import type { Application } from "../../core/application.js";
import { FIRMWARE } from "../../core/firmware.js";
import { readSetting, readSettings, type SettingSource } from "../../core/read-setting.js";

const NAMES = Object.freeze(["otaUrl", "otaInterval", "serialNumber", "hmacKey", "language"] as const);

/** Settings of the bootstrap. */
export type BootstrapConfig = ReturnType<typeof readSettings<(typeof NAMES)[number]>>;

/**
 * Reads the settings of the bootstrap.
 *
 * @returns undefined if `otaUrl` is not set: the backend is then the setting `backend`
 * @throws SettingError
 */
export const readBootstrapConfig = (source: SettingSource): BootstrapConfig | undefined =>
	readSetting("otaUrl", source) === "" ? undefined : readSettings(NAMES, source);

/** The layout version that the C++ firmware uses. */
const LAYOUT_VERSION = 2;

/** The tags of languages that the C++ firmware sends (BCP 47). */
const TAGS: Readonly<Record<BootstrapConfig["language"], string>> = Object.freeze({
	en: "en-US",
	ja: "ja-JP",
	zh: "zh-CN",
});

/** The headers of both requests. The activation's version is 2 for a device that has a serial number. */
export const bootstrapHeaders = (
	{ board, backend }: Application,
	{ serialNumber, language }: BootstrapConfig,
): Map<string, string> => {
	const headers = new Map([
		["Device-Id", board.system.macAddress],
		["Client-Id", backend.uuid],
		["Activation-Version", serialNumber === "" ? "1" : "2"],
		["User-Agent", `${board.name}/${FIRMWARE.version}`],
		["Accept-Language", TAGS[language]],
		["Content-Type", "application/json"],
	]);
	if (serialNumber !== "") {
		headers.set("Serial-Number", serialNumber);
	}
	return headers;
};

/** The device's report about itself, in the layout of the C++ firmware. Unknown values are omitted. */
export const bootstrapReport = ({ board, backend }: Application, { language }: BootstrapConfig): object => {
	const { system, screen, network } = board;
	const { language: _, minimum_free_heap_size: heap, ...info } = system.info();
	return {
		version: LAYOUT_VERSION,
		language: TAGS[language],
		...(heap !== undefined && { minimum_free_heap_size: String(heap) }),
		mac_address: system.macAddress,
		uuid: backend.uuid,
		partition_table: [],
		ota: { label: "" },
		...info,
		application: { name: FIRMWARE.name, version: FIRMWARE.version },
		...(screen && { display: { monochrome: screen.monochrome, width: screen.width, height: screen.height } }),
		board: {
			type: board.name,
			name: board.name,
			...info.board,
			...(network?.ssid !== undefined && { ssid: network.ssid }),
			...(network?.rssi !== undefined && { rssi: network.rssi }),
			mac: system.macAddress,
		},
	};
};
