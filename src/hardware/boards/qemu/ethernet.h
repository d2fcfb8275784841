// The controller that the SDK's Ethernet module expects of a board; see `open-eth.c`.

#include "driver/spi_master.h"
#include "esp_eth.h"

esp_eth_mac_t *mod_ethernet_get_mac(spi_device_interface_config_t device, int interruptPin);
esp_eth_phy_t *mod_ethernet_get_phy(void);
