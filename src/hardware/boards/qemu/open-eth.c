// The Ethernet controller that QEMU has in the place of a radio: OpenCores' Ethernet MAC. The SDK's module expects a
// controller on SPI, and sets an SPI bus up for it; this one is not on it.

#include "ethernet.h"

// Milliseconds for the link negotiation. Short: there is no peer.
#define NEGOTIATION_TIME 100

esp_eth_mac_t *mod_ethernet_get_mac(spi_device_interface_config_t device, int interruptPin)
{
	eth_mac_config_t config = ETH_MAC_DEFAULT_CONFIG();
	return esp_eth_mac_new_openeth(&config);
}

esp_eth_phy_t *mod_ethernet_get_phy(void)
{
	eth_phy_config_t config = ETH_PHY_DEFAULT_CONFIG();
	config.autonego_timeout_ms = NEGOTIATION_TIME;
	// There is no reset pin.
	config.reset_gpio_num = -1;
	return esp_eth_phy_new_generic(&config);
}
