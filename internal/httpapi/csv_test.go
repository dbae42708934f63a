package httpapi

import (
	"context"
	"io"
	"net/http"
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

// A stop ends downloads, as it ends streams: otherwise it would wait for their clients.
func TestCSVDownload_ends_with_the_server(t *testing.T) {
	reading := make(chan struct{})
	h := newHarness(t, nil, func(a *API) {
		RegisterOutput(a.Operations("Files", Public), "file", "GET /file", "A file",
			func(context.Context, *struct{}) (*huma.StreamResponse, error) {
				return CSVDownload("f.csv", []string{"n"}, func(ctx context.Context, _ func(cells ...any) error) error {
					close(reading)
					<-ctx.Done()
					return ctx.Err()
				}), nil
			}, WithCSV)
	})
	answered := make(chan error, 1)
	go func() {
		r, err := http.NewRequestWithContext(t.Context(), http.MethodGet, "http://"+h.Addr().String()+"/file", nil)
		if err == nil {
			var res *http.Response
			if res, err = h.client.Do(r); err == nil {
				_, err = io.ReadAll(res.Body)
				_ = res.Body.Close()
			}
		}
		answered <- err
	}()
	<-reading
	ctx, cancel := context.WithTimeout(t.Context(), 5*time.Second)
	defer cancel()
	testenv.NoError(t, h.Stop(ctx))
	if err := <-answered; err == nil {
		t.Error("the client takes a part for the whole")
	}
}
