/** What a broker brings. */
export interface MqttBusEvents {
	/** A message of a device's. */
	onMessage(clientId: string, text: string): void;
	/** A device's connection to the broker has ended. Only a broker of our own knows. */
	onGone(clientId: string): void;
	/** The broker itself is gone, and with it every device. */
	onBrokerLost(reason: string): void;
	/** Something that came from the network was refused or dropped. */
	onRefused(description: string): void;
}

/** A way to devices over MQTT: a broker of our own, or another's. */
export interface MqttBus {
	send(clientId: string, text: string): void;
	close(): Promise<void>;
}
