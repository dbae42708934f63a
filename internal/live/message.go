package live

import (
	"encoding/json"
	"slices"
)

// Change describes what has changed in a branch. It is also the wire format between processes, which may be of two
// versions during an upgrade: fields are added, never renamed, and an unknown field is ignored. The short names keep
// messages small.
type Change struct {
	Branch int64    `json:"b"`
	Orders []string `json:"o,omitempty"`     // ids of changed orders
	Many   bool     `json:"many,omitempty"`  // any order may have changed: there were more than maxOrders
	Left   bool     `json:"left,omitempty"`  // available quantities
	Menu   bool     `json:"menu,omitempty"`  // the menu, its quotas, or the branch itself
	Floor  bool     `json:"floor,omitempty"` // visits, tables or calls
	Carts  []string `json:"c,omitempty"`     // ids of visits whose shared cart changed
	Cart   bool     `json:"cart,omitempty"`  // any shared cart may have changed: there were more than maxCarts
}

// message is the JSON document sent through a channel.
type message struct {
	From    string   `json:"from"` // sending process, which ignores its own messages
	Changes []Change `json:"changes,omitempty"`
	To      string   `json:"to,omitempty"` // reader whose notices have changed
}

// Limits. Changes beyond them are not collected; longer messages are ignored.
const (
	maxOrders  = 256      // ids per branch; with more, reloading all streams costs less than selecting some
	maxCarts   = 64       // ids of visits per branch, for the same reason
	maxMessage = 64 << 10 // bytes; Redis drops a subscriber that is too far behind, so messages stay small
	maxWaiting = 1024     // branches with collected changes; bounds the memory while Redis is unreachable
)

// read decodes a message; ok is false for invalid messages and for this process's own.
func read(text, self string) (m message, ok bool) {
	if len(text) > maxMessage || json.Unmarshal([]byte(text), &m) != nil {
		return message{}, false
	}
	return m, m.From != self
}

// add appends ids, or sets Many if there would be too many. Once Many is set it stays set until the change is sent: the
// ids that were dropped are not known any more.
func (c *Change) add(orders []string) {
	if c.Many = c.Many || len(c.Orders)+len(orders) > maxOrders; c.Many {
		c.Orders = nil
		return
	}
	c.Orders = append(c.Orders, orders...)
}

// addCart appends a visit, or sets Cart if there would be too many. A visit is listed once, because the phones of a
// table change their cart many times between two messages.
func (c *Change) addCart(visit string) {
	if c.Cart || slices.Contains(c.Carts, visit) {
		return
	}
	if len(c.Carts) == maxCarts {
		c.Cart, c.Carts = true, nil
		return
	}
	c.Carts = append(c.Carts, visit)
}
