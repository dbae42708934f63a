// Package catalog owns what a restaurant sells.
package catalog

import (
	"time"

	_ "comanda/internal/fault"
)

// Clock asks for the time where it is handed one.
type Clock struct{ Now func() time.Time }

// Ask is not time.Now.
func (c Clock) Ask() time.Time { return c.Now() }
