// What the SDK's Ethernet module asks of a board: its controller. `open-eth.c` has it.

#include "driver/spi_master.h"
#include "esp_eth.h"

esp_eth_mac_t *mod_ethernet_get_mac(spi_device_interface_config_t device, int interruptPin);
esp_eth_phy_t *mod_ethernet_get_phy(void);
