import type { NetworkClients } from "../protocols/transport.js";
import type { Application } from "./application.js";
import { AppPart } from "./listener.js";
import type { SettingSource } from "./read-setting.js";

/** Opens the clients of the network with the settings of the build. @throws SettingError */
export type OpenNetwork = (built: SettingSource["built"]) => NetworkClients;

/** Takes the device online and offline with its network. */
export class DeviceNetwork extends AppPart {
	/** Whether changes are ignored: during the set-up the network is joined only to try it. */
	isHeld = false;
	private readonly open: OpenNetwork;
	private opened: ReturnType<OpenNetwork> | undefined;

	constructor(app: Application, open: OpenNetwork) {
		super(app);
		this.open = open;
	}

	/** Follows the network, or enters the set-up if no network is known. */
	start(): void {
		const { network } = this.app.board;
		if (network !== undefined) {
			network.onChange = () => this.follow();
		}
		if (this.isUnset) {
			this.app.enter("wifi_configuring");
		} else {
			this.resume();
		}
	}

	/** Clients of the network, opened at first use. @throws SettingError */
	get clients(): ReturnType<OpenNetwork> {
		this.opened ??= this.open(this.app.source.built);
		return this.opened;
	}

	/** Whether the device knows no network. */
	get isUnset(): boolean {
		const { network } = this.app.board;
		return network?.online === false && network.ssid === "";
	}

	/** Leaves the network for the set-up. The session ends first. */
	hold(): void {
		const { app } = this;
		this.isHeld = true;
		if (app.state !== "wifi_configuring") {
			this.goOffline();
		}
		app.enter("wifi_configuring");
	}

	/** Follows the network, at first or again after the set-up. */
	resume(): void {
		const { app } = this;
		this.isHeld = false;
		this.activate();
		if (app.board.network === undefined) {
			this.goOnline();
		} else {
			this.follow();
		}
	}

	private activate(): void {
		this.app.enter("activating");
		this.app.backend.rest();
	}

	private follow(): void {
		const { app } = this;
		const online = app.board.network?.online === true;
		if (!this.isHeld) {
			app.show({ online });
			online ? this.goOnline() : this.goOffline();
		}
	}

	private goOnline(): void {
		const { app } = this;
		if (app.state === "wifi_configuring") {
			this.activate();
		}
		app.emit("onOnline");
		app.backend.connect();
	}

	private goOffline(): void {
		this.app.emit("onOffline");
		this.app.backend.disconnect();
	}
}
