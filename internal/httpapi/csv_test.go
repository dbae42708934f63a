package httpapi

import (
	"context"
	"testing"
	"time"

	"github.com/danielgtaylor/huma/v2"

	"comanda/internal/testenv"
)

// A download takes as long as its client, so the time limit of requests does not end it.
func TestCSVDownload_outlives_a_request(t *testing.T) {
	h := newHarness(t, func(c *Config) {
		c.ReadTimeout, c.WriteTimeout, c.RequestTimeout = 60*time.Millisecond, 60*time.Millisecond, 40*time.Millisecond
	}, func(a *API) {
		RegisterOutput(a.Operations("Files", Public), "file", "GET /file", "A file",
			func(request context.Context, _ *struct{}) (*huma.StreamResponse, error) {
				return CSVDownload("f.csv", []string{"n"}, func(ctx context.Context, add func(cells ...any) error) error {
					<-request.Done() // the time limit has passed
					if err := ctx.Err(); err != nil {
						return err
					}
					return add(1)
				}), nil
			}, WithCSV)
	})
	a := h.send("GET", "/file", "")
	testenv.Equal(t, 200, a.StatusCode)
	testenv.Equal(t, CSVMark+"n\r\n1\r\n", a.body)
}
