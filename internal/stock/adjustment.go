package stock

import (
	"crypto/sha256"
	"encoding/hex"
	"encoding/json"
	"unicode/utf8"

	"comanda/internal/fault"
)

// AdjustmentKind is why units came or went otherwise than by a hold.
type AdjustmentKind string

// The kinds of adjustments.
const (
	Received AdjustmentKind = "RECEIVE" // a delivery: so many more
	Counted  AdjustmentKind = "COUNT"   // somebody has counted: so many are available, whatever was thought
	Wasted   AdjustmentKind = "WASTE"   // broken, spoiled, stolen: so many fewer
)

// Limits of an adjustment.
const (
	MaxAvailable = 1_000_000_000 // of one item, after it
	MaxNote      = 200           // characters
	MaxClientID  = 64            // characters of a clientTxnId
)

// Adjustment changes how many units of a stock item are available.
type Adjustment struct {
	Branch int64
	SKU    string
	Kind   AdjustmentKind
	Units  int64 // of Received and Wasted, 1 or more; of Counted, what is available, 0 or more
	Note   string
	Create bool // an item that is not there is made

	// ClientTxnID is chosen by the client, once per branch; empty for none. The same adjustment under the same one is made
	// once, and answered as the first time.
	ClientTxnID string
}

// Digest names what is asked, by which a repetition is told from another adjustment under the same key.
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

// Change is how the book is told.
func (a Adjustment) Change() (units int64, set bool) {
	if a.Kind == Wasted {
		return -a.Units, false
	}
	return a.Units, a.Kind == Counted
}

// Check refuses what nobody may adjust.
func (a Adjustment) Validate() error {
	least := int64(1)
	if a.Kind == Counted {
		least = 0
	}
	switch {
	case a.Kind != Received && a.Kind != Counted && a.Kind != Wasted:
		return fault.New(fault.Invalid, "invalid", "An adjustment is RECEIVE, COUNT or WASTE.").With("field", "kind")
	case a.Units < least || a.Units > MaxAvailable:
		return fault.Newf(fault.Invalid, "invalid", "The quantity is %d to %d.", least, int64(MaxAvailable)).
			With("field", "quantity")
	case utf8.RuneCountInString(a.ClientTxnID) > MaxClientID || !utf8.ValidString(a.ClientTxnID):
		return fault.Newf(fault.Invalid, "invalid", "clientTxnId has 1 to %d characters.", MaxClientID).
			With("field", "clientTxnId")
	case utf8.RuneCountInString(a.Note) > MaxNote || !utf8.ValidString(a.Note):
		return fault.Newf(fault.Invalid, "invalid", "A note has at most %d characters.", MaxNote).With("field", "note")
	}
	return ValidateExternalID("itemId", a.SKU)
}

// Level is how many units of a stock item there are.
type Level struct {
	Item
	Available int64
	Reserved  int64
	Sold      int64
}

// Low tells whether an alarm stands.
func (l Level) Low() bool { return l.low(l.Available) }
