package sim

import (
	"bytes"
	"encoding/json"
	"io"
	"mime"
	"net/http"
)

// Shown is the number of payments that /control shows, newest first.
const Shown = 50

// HandleControl adds the routes by which a tester watches and disturbs a simulator: GET /control shows its state, and
// PUT /control sets the faults in {"faults": ...}.
//
// PUT requires the content type of JSON, so that a page of another site cannot set faults: a browser sends a preflight
// request first, which has no route. state is called for each request and must lock by itself. set replaces the faults
// or refuses them all. F is the type of the faults in JSON. There is no authentication, because simulators run in
// demonstrations and tests only.
func HandleControl[F any](s *Server, state func() any, set func(faults F) error) {
	show := func(w http.ResponseWriter, _ *http.Request) { WriteJSON(w, state()) }
	s.HandleFunc("GET /control", show)
	s.HandleFunc("PUT /control", func(w http.ResponseWriter, r *http.Request) {
		if kind, _, err := mime.ParseMediaType(r.Header.Get("Content-Type")); err != nil || kind != "application/json" {
			http.Error(w, "send JSON", http.StatusUnsupportedMediaType)
			return
		}
		body, err := io.ReadAll(http.MaxBytesReader(w, r.Body, MaxBody))
		var c struct {
			Faults F `json:"faults"`
		}
		if err != nil || !Decode(body, &c) {
			http.Error(w, `send {"faults": ...} in the form in which GET /control shows it`, http.StatusBadRequest)
			return
		}
		if err := set(c.Faults); err != nil {
			http.Error(w, err.Error(), http.StatusBadRequest)
			return
		}
		show(w, r)
	})
}

// Decode decodes exactly one JSON value without unknown fields. A field that a simulator does not know is a mistake of the
// merchant, or of the tester.
func Decode(body []byte, into any) bool {
	d := json.NewDecoder(bytes.NewReader(body))
	d.DisallowUnknownFields()
	if d.Decode(into) != nil {
		return false
	}
	// Decode stops after the first value; the end of the body shows that nothing follows.
	_, err := d.Token()
	return err == io.EOF
}
