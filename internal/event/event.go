package event

import (
	"encoding/json"
	"fmt"
	"time"

	"comanda/internal/uid"
)

// Event is the stored and transmitted envelope of one committed change. It is a value: a row of the outbox, a message
// and a dead letter hold the same fields.
type Event struct {
	ID          string          // uid; consumers deduplicate by it
	Type        string          // registered name
	Aggregate   string          // kind of entity that changed
	AggregateID string          // id of that entity
	Seq         int64           // version of the entity after the change, ascending per aggregate
	BranchID    int64           // branch of the entity, 0 if none
	At          time.Time       // time of the change, UTC in whole milliseconds
	Payload     json.RawMessage // JSON object that conforms to Type.Schema
}

// Kind ties a registered type to the Go type of its payload, so that an event of that type can neither be built nor
// decoded with any other payload. Stored events have no P: Decode checks the type by its name.
type Kind[P any] struct{ Type }

// New returns an event of this kind with a new ID. It panics if the payload does not marshal; payloads are flat structs
// of this package, so that is a programming error. The caller stores the event in the transaction of the change
// (outbox.Queue); seq must be the version that this transaction writes.
func (k Kind[P]) New(at time.Time, aggregateID string, seq, branchID int64, payload P) Event {
	raw, err := json.Marshal(payload)
	if err != nil {
		panic(fmt.Sprintf("event: the payload of %s does not marshal: %v", k.Name, err))
	}
	return Event{
		ID:          uid.New(at),
		Type:        k.Name,
		Aggregate:   k.Aggregate,
		AggregateID: aggregateID,
		Seq:         seq,
		BranchID:    branchID,
		At:          at.UTC().Truncate(time.Millisecond),
		Payload:     raw,
	}
}

// Decode returns the payload of e, which must be of this kind. It ignores unknown fields, because a newer producer may
// add them.
func (k Kind[P]) Decode(e Event) (P, error) {
	var p P
	if e.Type != k.Name {
		return p, fmt.Errorf("event: %s %s is not a %s", e.Type, e.ID, k.Name)
	}
	if err := json.Unmarshal(e.Payload, &p); err != nil {
		return p, fmt.Errorf("event: payload of %s %s: %w", e.Type, e.ID, err)
	}
	return p, nil
}
