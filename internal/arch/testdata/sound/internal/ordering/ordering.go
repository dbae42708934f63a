// Package ordering owns orders from placing to paying.
package ordering

import (
	_ "comanda/internal/catalog"
	_ "comanda/internal/stock"
)
