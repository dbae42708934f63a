package main

import (
	"bufio"
	"errors"
	"fmt"
	"io"
	"os"
	"strconv"
	"strings"

	"github.com/spf13/cobra"
	"golang.org/x/term"

	"comanda/internal/app"
)

// user creates accounts without a login, such as the first owner of an installation.
func (c *cli) user() *cobra.Command {
	var n app.NewAccount
	create := &cobra.Command{
		Use: "create", Short: "Create an account that can log in at once", Args: noArguments,
		Long: "Creates an account with a role: owner, admin, manager, cashier, kitchen, staff, user, or a custom role.\n" +
			"The password is read from COMANDA_PASSWORD, from the terminal, or from a line of standard input, never from an\n" +
			"argument, which other users could see.",
		Example: "  comanda user create --role owner --email boss@example.com\n" +
			"  comanda user create --role cashier --email anh@example.com --branch 1,2",
		RunE: c.withConfig(func(cmd *cobra.Command, config app.Config) (result, error) {
			n.ReadPassword = func() (string, error) { return readPassword(cmd.InOrStdin(), cmd.ErrOrStderr()) }
			users, err := app.CreateUsers(cmd.Context(), config, []app.NewAccount{n})
			if err != nil {
				return result{}, err
			}
			u := users[0]
			value := map[string]string{"id": strconv.FormatInt(u.ID, 10), "email": u.Email, "role": u.Role}
			return result{value: value, text: func(w io.Writer) {
				fmt.Fprintf(w, "user %d: %s, %s\n", u.ID, u.Email, u.Role)
			}}, nil
		}),
	}
	create.Flags().StringVar(&n.Role, "role", "", "name of the role")
	create.Flags().StringVar(&n.Email, "email", "", "e-mail address")
	create.Flags().StringVar(&n.Username, "username", "", "alternative name for logging in")
	create.Flags().Int64SliceVar(&n.Branches, "branch", nil, "ids of the account's branches")
	_ = create.MarkFlagRequired("role") // the flags exist
	_ = create.MarkFlagRequired("email")
	return group("user", "Create accounts", create)
}

// readPassword prompts twice on a terminal, without echo. Otherwise it reads COMANDA_PASSWORD or one line of standard
// input, for scripts.
func readPassword(in io.Reader, prompt io.Writer) (string, error) {
	if p := os.Getenv("COMANDA_PASSWORD"); p != "" {
		return p, nil
	}
	f, ok := in.(*os.File)
	if !ok || !isTerminal(f) {
		line, err := bufio.NewReader(in).ReadString('\n')
		switch {
		case errors.Is(err, io.EOF) && line == "":
			return "", errors.New("there is no password: set COMANDA_PASSWORD, or write it as a line to standard input")
		case err != nil && !errors.Is(err, io.EOF):
			return "", fmt.Errorf("read the password: %w", err)
		}
		return strings.TrimRight(line, "\r\n"), nil
	}
	var typed [2]string
	for i, what := range []string{"Password: ", "Once more: "} {
		fmt.Fprint(prompt, what)
		b, err := term.ReadPassword(int(f.Fd()))
		fmt.Fprintln(prompt)
		if err != nil {
			return "", fmt.Errorf("read the password: %w", err)
		}
		typed[i] = string(b)
	}
	if typed[0] != typed[1] {
		return "", errors.New("the two passwords differ")
	}
	return typed[0], nil
}
