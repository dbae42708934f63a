// Package eventtest validates events against their documented schemas.
package eventtest

import (
	"bytes"
	"sync"

	"github.com/santhosh-tekuri/jsonschema/v6"

	"comanda/internal/event"
)

// TB is the subset of testing.TB that Conform needs, so that *rapid.T satisfies it too.
type TB interface {
	Helper()
	Errorf(format string, args ...any)
}

// compiled returns the compiled schemas of all types by name.
var compiled = sync.OnceValue(func() map[string]*jsonschema.Schema {
	all := map[string]*jsonschema.Schema{}
	c := jsonschema.NewCompiler()
	// Without it, formats such as date-time are annotations and every text passes.
	c.AssertFormat()
	for _, typ := range event.Types() {
		doc, err := jsonschema.UnmarshalJSON(bytes.NewReader([]byte(typ.Schema())))
		if err == nil {
			err = c.AddResource(typ.Name, doc)
		}
		if err != nil {
			panic(err)
		}
		all[typ.Name] = c.MustCompile(typ.Name)
	}
	return all
})

// Conform reports every event whose payload violates the schema of its type.
func Conform(t TB, events ...event.Event) {
	t.Helper()
	for _, e := range events {
		if err := Check(e.Type, e.Payload); err != nil {
			t.Errorf("payload of %s: %v\n%s", e.Type, err, e.Payload)
		}
	}
}

// Check returns an error if a message body violates the schema of the named type.
func Check(name string, body []byte) error {
	v, err := jsonschema.UnmarshalJSON(bytes.NewReader(body))
	if err != nil {
		return err
	}
	return compiled()[name].Validate(v)
}
