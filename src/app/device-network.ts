import type { DeviceStateMachine } from "../device_state/device-state.js";
import type { Board, Face } from "../hardware/hardware.js";
import type { TimerHandle, TimerModule } from "../hardware/timer.js";
import type { PhoneSetup, Setup } from "../setup/phone-setup.js";
import type { Attachment } from "./application-options.js";
import { RESTART_DELAY } from "./system-commands.js";

interface DeviceNetworkOptions {
	readonly board: Pick<Board, "network" | "system">;
	readonly setup: Setup | undefined;
	readonly state: DeviceStateMachine;
	readonly timer: TimerModule;
}

/** The application, as its network needs it. */
export interface NetworkEvents {
	show(change: Partial<Face>): void;
	/** The device starts, or its set-up has ended. */
	onActivate(): void;
	/** The device is in its network, or needs none. */
	onOnline(): void;
	/** The device is not in its network, or is set up. */
	onOffline(): void;
}

/** Follows the device's network, and opens the set-up: for a device without a network, or when a user asks for it. */
export class DeviceNetwork implements Attachment {
	private readonly events: NetworkEvents;
	private readonly options: DeviceNetworkOptions;
	private readonly setup: PhoneSetup | undefined;
	/** Starts the requested set-up. */
	private timer: TimerHandle | undefined;

	constructor(events: NetworkEvents, options: DeviceNetworkOptions) {
		this.events = events;
		this.options = options;
		this.setup = options.setup?.({
			onNeeded: (isFallback) => this.setUp(isFallback),
			onAlert: (message) => events.show({ alert: { status: "", message } }),
			onShow: (setup) => events.show({ setup }),
			onEnd: (restart) => this.endSetup(restart),
		});
	}

	/** Whether the device can be set up with a phone. */
	get hasSetup(): boolean {
		return this.setup !== undefined;
	}

	/** Follows the network from now on. */
	start(): void {
		const { network } = this.options.board;
		if (network === undefined) {
			this.events.onOnline();
			return;
		}
		network.onChange = () => this.follow(network.online);
		if (!network.online && network.ssid === "") {
			this.setUp();
		} else {
			this.events.onActivate();
			this.follow(network.online);
		}
	}

	/** @param delay milliseconds until the set-up begins */
	setUpIn(delay: number): void {
		this.clearTimer();
		if (delay === 0) {
			this.setUp();
		} else {
			this.timer = this.options.timer.set(() => this.setUp(), delay);
		}
	}

	reached(): void {
		this.setup?.reached();
	}

	close(): void {
		const { network } = this.options.board;
		if (network !== undefined) {
			network.onChange = undefined;
		}
		this.setup?.close();
		this.clearTimer();
	}

	/** During the set-up the network is joined only to try it. */
	private follow(online: boolean): void {
		if (this.setup?.isOpen) {
			return;
		}
		this.setup?.follow(online);
		this.events.show({ online });
		online ? this.events.onOnline() : this.events.onOffline();
	}

	/** The session ends first: a device that is set up is not in its network. */
	private setUp(isFallback?: boolean): void {
		const { state } = this.options;
		if (this.setup?.isOpen || state.state === "upgrading") {
			return;
		}
		if (state.state !== "starting") {
			this.events.onOffline();
		}
		state.enter("wifi_configuring");
		this.setup?.begin(isFallback);
	}

	/** Settings other than the network's are read when the firmware starts. */
	private endSetup(restart: boolean): void {
		const { network, system } = this.options.board;
		if (restart && system !== undefined) {
			system.restart(RESTART_DELAY);
		} else if (network?.online === true || network?.ssid !== "") {
			this.events.onActivate();
			this.follow(network?.online === true);
		} else {
			// The set-up's network could not be opened, and the device knows no other: the set-up is tried again later.
			this.setup?.follow(false);
		}
	}

	private clearTimer(): void {
		this.options.timer.clear(this.timer);
		this.timer = undefined;
	}
}
