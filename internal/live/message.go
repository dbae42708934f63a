package live

import "encoding/json"

// Change says what has changed in a branch.
type Change struct {
	Branch int64    `json:"b"`
	Orders []string `json:"o,omitempty"`     // ids of orders
	Many   bool     `json:"many,omitempty"`  // any order may have changed: there were more than a message names
	Left   bool     `json:"left,omitempty"`  // what can still be sold
	Menu   bool     `json:"menu,omitempty"`  // the menu, its quotas, or the branch itself
	Floor  bool     `json:"floor,omitempty"` // who sits where, and who calls
}

// message is what travels.
type message struct {
	From    string   `json:"from"` // the process, which hears itself and does not listen
	Changes []Change `json:"changes"`
}

// Bounds of a message: of what is told meanwhile no more is remembered, and what is longer is no message of ours.
const (
	maxOrders  = 256      // named of one branch
	maxMessage = 64 << 10 // bytes
	maxWaiting = 1024     // branches of which something is to be told
)

// read reads a message; ok is false for what is none, or our own.
func read(text, self string) (m message, ok bool) {
	if len(text) > maxMessage || json.Unmarshal([]byte(text), &m) != nil {
		return message{}, false
	}
	return m, m.From != self
}

// add takes up ids until there are too many to name.
func (c *Change) add(orders []string) {
	if c.Many = c.Many || len(c.Orders)+len(orders) > maxOrders; c.Many {
		c.Orders = nil
		return
	}
	c.Orders = append(c.Orders, orders...)
}
