package stock

import (
	"crypto/sha256"
	"encoding/hex"
	"encoding/json"
	"unicode/utf8"

	"comanda/internal/fault"
)

// AdjustmentKind is the reason for a change of stock that no hold caused.
type AdjustmentKind string

// The kinds of adjustments.
const (
	Received AdjustmentKind = "RECEIVE" // a delivery adds units
	Counted  AdjustmentKind = "COUNT"   // a stock count sets the available units
	Wasted   AdjustmentKind = "WASTE"   // broken, spoiled or stolen units are subtracted
)

// Limits of an adjustment.
const (
	MaxAvailable = 1_000_000_000 // units of one item after an adjustment
	MaxNote      = 200           // characters
	MaxClientID  = 64            // characters of a clientTxnId
)

// Adjustment changes the available units of a stock item. Held and sold units are never adjusted: they follow from
// holds alone (I1).
type Adjustment struct {
	Branch int64
	SKU    string
	Kind   AdjustmentKind
	Units  int64 // Received, Wasted: the difference, at least 1; Counted: the available units, at least 0
	Note   string
	Create bool // creates a missing item

	// ClientTxnID is an idempotency key, unique per branch; empty for none. A repeated adjustment under the same key
	// is made once and answered as the first time.
	ClientTxnID string
}

// Digest identifies the content of the adjustment. A repetition has the same digest; another adjustment under the same
// key is refused with ErrKeyReused. Branch and ClientTxnID are not part of it, because they find the earlier
// adjustment.
func (a Adjustment) Digest() string {
	text, _ := json.Marshal(struct {
		SKU   string         `json:"s"`
		Kind  AdjustmentKind `json:"k"`
		Units int64          `json:"u"`
		Note  string         `json:"n"`
	}{a.SKU, a.Kind, a.Units, a.Note}) // strings and integers always marshal
	sum := sha256.Sum256(text)
	return hex.EncodeToString(sum[:12])
}

// Change returns the arguments of Balances.Adjust: the difference, or with set the new number of available units.
func (a Adjustment) Change() (units int64, set bool) {
	if a.Kind == Wasted {
		return -a.Units, false
	}
	return a.Units, a.Kind == Counted
}

// Validate returns a fault of kind Invalid for an adjustment that breaks a limit.
func (a Adjustment) Validate() error {
	least := int64(1)
	if a.Kind == Counted {
		least = 0
	}
	switch {
	case a.Kind != Received && a.Kind != Counted && a.Kind != Wasted:
		return fault.New(fault.Invalid, "invalid", "kind must be RECEIVE, COUNT or WASTE.").With("field", "kind")
	case a.Units < least || a.Units > MaxAvailable:
		return fault.Newf(fault.Invalid, "invalid", "The quantity must be between %d and %d.", least, int64(MaxAvailable)).
			With("field", "quantity")
	case utf8.RuneCountInString(a.ClientTxnID) > MaxClientID || !utf8.ValidString(a.ClientTxnID):
		return fault.Newf(fault.Invalid, "invalid", "clientTxnId must have 1 to %d characters.", MaxClientID).
			With("field", "clientTxnId")
	case utf8.RuneCountInString(a.Note) > MaxNote || !utf8.ValidString(a.Note):
		return fault.Newf(fault.Invalid, "invalid", "A note may have at most %d characters.", MaxNote).With("field", "note")
	}
	return ValidateExternalID("itemId", a.SKU)
}

// Level is how many units of a stock item are available, reserved and sold.
type Level struct {
	Item
	Available int64
	Reserved  int64
	Sold      int64
}

// Low reports whether the available units are at or below the item's alarm threshold.
func (l Level) Low() bool { return l.low(l.Available) }
