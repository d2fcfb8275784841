import UDP from "embedded:io/socket/udp";
import WiFi from "embedded:network/interface/wifi";
import NTPClient from "embedded:network/ntp/client";
import built from "mc/config";
import Preference from "preference";
import Timer from "timer";
import { knownNetworks } from "../../core/known-networks.js";
import { type SettingSource, settingText } from "../../core/read-setting.js";
import { StoredSettings } from "../../core/stored-settings.js";
import { deepFreeze } from "../../core/text/deep-freeze.js";
import { parseStaticAddress } from "../../core/wifi-settings.js";
import { SystemResolver } from "../../platform/system-resolver.js";
import { NtpClock, type NtpRecord } from "./ntp-clock.js";
import { WiFiNetwork, type WiFiRecord } from "./wifi-network.js";

/** ESP-IDF's DNS client, as the SDK's fixed address has no server: `esp32-dns.c`, built for an ESP32 only. */
const esp32Dns = deepFreeze({
	/** Sets the DNS server of the Wi-Fi, an IPv4 address. Does nothing if ESP-IDF rejects it. */
	set(address: string): void {
		native("xs_esp32dns_set").call(this, address);
	},
});

const log = (message: string): void => trace(`${message}\n`);

/** Opens stored settings, and below them the built-in ones. */
const openSource = (): SettingSource => ({ built, settings: new StoredSettings(Preference, log) });

/** Opens a clock that the server of the setting `ntp` sets. @param setTime in seconds since 1970 */
export const openClock = (setTime: (seconds: number) => void): NtpClock => {
	const servers = [settingText("ntp", openSource())];
	const ntp = { io: NTPClient, servers, dns: { io: SystemResolver }, socket: { io: UDP } } as unknown as NtpRecord;
	return new NtpClock({ ntp, setTime, now: () => Date.now(), timer: Timer, log });
};

/**
 * Joins a Wi-Fi of the settings `ssid`, `password` and `networks`, and sets the clock. Builds leave out the SDK's
 * `setup/network`, which joins the Wi-Fi only once.
 *
 * @param setTime sets the clock, in seconds since 1970
 */
export const openWiFi = (setTime: (seconds: number) => void): WiFiNetwork => {
	const source = openSource();
	const address = parseStaticAddress(settingText("staticAddress", source));
	return new WiFiNetwork({
		wifi: { io: WiFi } as WiFiRecord,
		networks: knownNetworks(source),
		fixed: address && { ssid: settingText("ssid", source), address },
		setDns: esp32Dns.set,
		needsTime: /^(wss|mqtts|https):/i.test(settingText("otaUrl", source) || settingText("backend", source)),
		clock: openClock(setTime),
		timer: Timer,
		log,
	});
};
