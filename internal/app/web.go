package app

import (
	"fmt"
	"io"

	"comanda/internal/demo"
	"comanda/internal/httpapi"
	"comanda/internal/payment"
	"comanda/internal/visit/visithttp"
	"comanda/internal/web"
)

// registerWeb adds the guests' app and the staff's console, if this binary contains them, and images of dishes.
func (k *Core) registerWeb(a *httpapi.API) error {
	if err := web.Pictures(a, demo.Pictures(), k.images); err != nil {
		return err
	}
	built, ok := web.Built()
	if !ok {
		visithttp.Scan(a)
		return nil
	}
	app, err := web.New(built, web.Boot{Methods: k.methods(), Demo: k.Config.DemoLAN})
	if err != nil {
		return err
	}
	app.Register(a)
	return nil
}

// methods returns the ways to pay that guests see.
func (k *Core) methods() []string {
	var all []string
	for _, m := range k.gateways.methods(k.Config.SandboxPayments) {
		all = append(all, string(m))
	}
	return append(all, string(payment.Counter))
}

// appPage returns the URL of a page of the guests' app, or an empty string if there is no app.
func appPage(path string) string {
	if _, ok := web.Built(); !ok {
		return ""
	}
	return path
}

// announceWeb prints the address of the staff's console, or that this binary has no web pages.
func announceWeb(out io.Writer, publicURL string) {
	if _, ok := web.Built(); !ok {
		fmt.Fprintln(out, "Guest app     not in this binary: install Node.js 20.19 or newer and run make run")
		return
	}
	fmt.Fprintf(out, "Console       %s%s\n", publicURL, web.ConsolePath)
}
