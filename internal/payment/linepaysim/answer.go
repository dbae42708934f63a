package linepaysim

import (
	"encoding/json"
	"io"
	"net/http"
)

const maxBody = 64 << 10

// reply is an answer of the API.
type reply struct {
	Code    string `json:"returnCode"`
	Message string `json:"returnMessage"`
	Info    any    `json:"info,omitempty"`
}

func done(info any) reply { return reply{"0000", "Success.", info} }

// messages are what goes with the codes that the simulator gives by itself.
var messages = map[string]string{
	"0000": "Success.", "0110": "The user has approved.", "0121": "The user has canceled, or the time is over.",
	"0122": "The payment has failed.", "0123": "The payment is done.",
	"1106": "Header information error.", "1124": "Amount error.", "1150": "Transaction record not found.",
	"1153": "The amount differs from the requested one.", "1155": "Not a transaction that can be refunded.",
	"1164": "The refund is more than is left.", "1165": "Refunded already.", "1169": "The user has not approved yet.",
	"1172": "The order was confirmed already.", "1178": "The currency is not supported.", "1180": "The payment has expired.",
	"1198": "Duplicated API call.", "2101": "Parameter error.", "2102": "JSON data format error.",
}

func coded(code string) reply { return reply{Code: code, Message: messages[code]} }

// answer makes a handler of a call: who is it, what strikes it, what does it do, what is said.
func (s *Simulator) answer(c Call, do func(r *http.Request, body []byte, f Fault) reply) http.HandlerFunc {
	return func(w http.ResponseWriter, r *http.Request) {
		body, err := io.ReadAll(http.MaxBytesReader(w, r.Body, maxBody))
		if err != nil {
			http.Error(w, "body", http.StatusRequestEntityTooLarge)
			return
		}
		if why := s.admit(r, body); why != "" {
			write(w, reply{Code: "1106", Message: why})
			return
		}
		f := s.strike(c)
		out, ok := s.alone(r, func() reply {
			s.wait(r.Context(), f.DelayMS)
			if !f.acts() {
				return reply{}
			}
			return do(r, body, f)
		})
		if !ok {
			write(w, coded("1198"))
			return
		}
		if f.Code != "" {
			out = coded(f.Code)
		}
		s.say(w, r, f.Spoil, out)
	}
}

// alone works on one call of a path at a time if it changes something; ok is false for a second one.
func (s *Simulator) alone(r *http.Request, do func() reply) (out reply, ok bool) {
	if r.Method == http.MethodGet || r.PathValue("id") == "" {
		return do(), true
	}
	s.mu.Lock()
	taken := s.busy[r.URL.Path]
	s.busy[r.URL.Path] = true
	s.mu.Unlock()
	if taken {
		return reply{}, false
	}
	defer func() {
		s.mu.Lock()
		delete(s.busy, r.URL.Path)
		s.mu.Unlock()
	}()
	return do(), true
}

// say brings an answer to the caller, or does not.
func (s *Simulator) say(w http.ResponseWriter, r *http.Request, spoil Spoil, out reply) {
	switch spoil {
	case Hangs:
		select {
		case <-r.Context().Done():
		case <-s.done.Done():
		}
		panic(http.ErrAbortHandler)
	case Lost:
		panic(http.ErrAbortHandler)
	case Garbled:
		w.Header().Set("Content-Type", "text/html; charset=utf-8")
		_, _ = io.WriteString(w, "<!doctype html><title>LINE Pay</title><p>\xe7\xb3\xbb\xff maintenance") // the caller may be gone
	case Broken:
		http.Error(w, "internal error", http.StatusInternalServerError)
	case Redirect:
		http.Redirect(w, r, "/control", http.StatusFound)
	default:
		write(w, out)
	}
}

func write(w http.ResponseWriter, v any) {
	w.Header().Set("Content-Type", "application/json; charset=utf-8")
	_ = json.NewEncoder(w).Encode(v) // the caller may be gone
}
