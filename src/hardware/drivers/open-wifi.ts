import UDP from "embedded:io/socket/udp";
import WiFi from "embedded:network/interface/wifi";
import NTPClient from "embedded:network/ntp/client";
import built from "mc/config";
import Preference from "preference";
import Timer from "timer";
import { knownNetworks } from "../../core/known-networks.js";
import { type SettingSource, settingText } from "../../core/read-setting.js";
import { StoredSettings } from "../../core/stored-settings.js";
import { parseStaticAddress } from "../../core/wifi-settings.js";
import { SystemResolver } from "../../platform/system-resolver.js";
import { esp32Dns } from "./esp32-dns.js";
import { NtpClock, type NtpRecord } from "./ntp-clock.js";
import { WiFiNetwork, type WiFiRecord } from "./wifi-network.js";

/**
 * Joins a Wi-Fi of the settings `ssid`, `password` and `networks`, and sets the clock by the server of the setting `ntp`: a
 * stored setting if there is one, else the built-in one. Builds leave out the SDK's `setup/network`, which
 * joins the Wi-Fi only once.
 *
 * @param setTime sets the clock, in seconds since 1970
 */
export const openWiFi = (setTime: (seconds: number) => void): WiFiNetwork => {
	const log = (message: string): void => trace(`${message}\n`);
	const source: SettingSource = { built, settings: new StoredSettings(Preference, log) };
	const address = parseStaticAddress(settingText("staticAddress", source));
	const servers = [settingText("ntp", source)];
	const ntp = { io: NTPClient, servers, dns: { io: SystemResolver }, socket: { io: UDP } };
	return new WiFiNetwork({
		wifi: { io: WiFi } as WiFiRecord,
		networks: knownNetworks(source),
		fixed: address && { ssid: settingText("ssid", source), address },
		setDns: esp32Dns.set,
		needsTime: /^(wss|mqtts|https):/i.test(settingText("otaUrl", source) || settingText("backend", source)),
		clock: new NtpClock({
			ntp: ntp as unknown as NtpRecord,
			setTime,
			now: () => Date.now(),
			timer: Timer,
			log,
		}),
		timer: Timer,
		log,
	});
};
