import Net from "net";
import Preference from "preference";
import Timer from "timer";
import type { Board, Network, System, SystemInfo } from "../hardware/hardware.js";

/**
 * The Wi-Fi that the SDK's setup has joined before the firmware starts. It counts as there from then on: whether it
 * still is, the protocol's attempts find out.
 */
class WiFiNetwork implements Network {
	readonly type = "wifi";
	readonly online = true;
	onChange: (() => void) | undefined = undefined;

	get ssid(): string {
		return Net.get("SSID") ?? "";
	}

	get rssi(): number {
		return Net.get("RSSI") ?? -100;
	}
}

class Esp32System implements System {
	readonly macAddress = (Net.get("MAC") ?? "").toLowerCase();

	info(): SystemInfo {
		return { language: "en-US", chip_model_name: "esp32", board: { type: "esp32", name: "esp32" } };
	}

	restart(delay: number): void {
		Timer.set(() => System.restart(), delay);
	}
}

/** A bare ESP32: the chip and its Wi-Fi. A board with more parts is a file of its own. */
export function openBoard(): Board & { readonly system: System } {
	return { name: "esp32", network: new WiFiNetwork(), system: new Esp32System(), settings: Preference, close() {} };
}
