/* A cribbage bot in C without any library: six-card cribbage by simple rules.
 *
 *     cc -O2 -o simple_bot examples/bots/simple_bot.c
 *     crib evaluate command:./simple_bot rule_based
 *
 * It keeps the four cards with the most points and plays the card that pegs the most. A line holds
 * no brackets or quotes but those of JSON, so a field is found by its name.
 */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#define MOST 16
typedef struct {
    int n;
    char text[MOST][3];
} Cards;

static const char RANKS[] = "A23456789TJQK";

static int rank_of(const char *card) { return (int)(strchr(RANKS, card[0]) - RANKS) + 1; }

static int pip(const char *card) { return rank_of(card) < 10 ? rank_of(card) : 10; }

/* The text after "name":, or NULL. */
static const char *field(const char *line, const char *name) {
    char key[32];
    snprintf(key, sizeof key, "\"%s\":", name);
    const char *at = strstr(line, key);
    if (at == NULL) return NULL;
    at += strlen(key);
    return at + strspn(at, " ");
}

/* The cards of a list such as ["5H","JC"]. */
static Cards cards_of(const char *line, const char *name) {
    Cards cards = {0};
    const char *at = field(line, name);
    for (; at != NULL && *at != ']' && *at != '\0' && cards.n < MOST; at++)
        if (*at == '"') {
            memcpy(cards.text[cards.n++], at + 1, 2);
            at += 3;
        }
    return cards;
}

static int is_run(int n, const int *ranks) {
    int seen = 0, low = 13;
    for (int i = 0; i < n; i++) {
        if (seen >> ranks[i] & 1) return 0;
        seen |= 1 << ranks[i];
        if (ranks[i] < low) low = ranks[i];
    }
    return seen >> low == (1 << n) - 1;
}

/* The fifteens, pairs and runs of the cards of a hand that a mask names. */
static int points(const Cards *hand, int mask) {
    int total = 0, longest = 0, runs = 0;
    for (int some = mask; some > 0; some = (some - 1) & mask) {
        int n = 0, sum = 0, ranks[MOST];
        for (int i = 0; i < hand->n; i++)
            if (some >> i & 1) {
                sum += pip(hand->text[i]);
                ranks[n++] = rank_of(hand->text[i]);
            }
        if (sum == 15) total += 2;
        if (n == 2 && ranks[0] == ranks[1]) total += 2;
        if (n > 2 && n >= longest && is_run(n, ranks)) {
            runs = n > longest ? 1 : runs + 1;
            longest = n;
        }
    }
    return total + longest * runs;
}

/* The points of a card played on the pile of this count. */
static int pegged(const Cards *pile, int count, const char *card) {
    int total = 0, ranks[MOST + 1], n = pile->n + 1;
    for (int i = 0; i < pile->n; i++) ranks[i] = rank_of(pile->text[i]);
    ranks[n - 1] = rank_of(card);
    count += pip(card);
    if (count == 15 || count == 31) total += 2;
    int alike = 1;
    while (alike < n && ranks[n - 1 - alike] == ranks[n - 1]) alike++;
    total += alike * (alike - 1);
    for (int size = n; size > 2; size--)
        if (is_run(size, ranks + n - size)) return total + size;
    return total;
}

/* Name the two cards to discard: the others score the most. */
static void discard(const char *line) {
    Cards hand = cards_of(line, "hand"), gone = cards_of(line, "discarded");
    int own = hand.n, best = -1, away = 0;
    for (int i = 0; i < gone.n; i++) strcpy(hand.text[hand.n++], gone.text[i]);
    int all = (1 << hand.n) - 1, forced = all & ~((1 << own) - 1);
    for (int i = 0; i < hand.n; i++)
        for (int j = i + 1; j < hand.n; j++) {
            int pair = 1 << i | 1 << j;
            int value = (pair & forced) == forced ? points(&hand, all & ~pair) : -1;
            if (value > best) best = value, away = pair;
        }
    const char *comma = "";
    printf("{\"action\": [");
    for (int i = 0; i < own; i++)
        if (away >> i & 1) printf("%s\"%s\"", comma, hand.text[i]), comma = ", ";
    printf("]}\n");
}

/* Name the card that pegs the most, the highest among equals. */
static void play(const char *line) {
    Cards legal = cards_of(line, "legal"), pile = cards_of(line, "pile");
    int count = atoi(field(line, "count")), best = -1, chosen = 0;
    for (int i = 0; i < legal.n; i++) {
        int value = 100 * pegged(&pile, count, legal.text[i]) + pip(legal.text[i]);
        if (value > best) best = value, chosen = i;
    }
    printf("{\"action\": \"%s\"}\n", legal.text[chosen]);
}

int main(void) {
    static char line[1 << 16];
    while (fgets(line, sizeof line, stdin) != NULL) {
        const char *type = field(line, "type");
        if (type == NULL || strncmp(type, "\"quit\"", 6) == 0) break;
        if (strncmp(type, "\"hello\"", 7) == 0)
            printf("{\"name\": \"simple-c\", \"author\": \"crib-env\", \"plays\": [\"six_card\"], "
                   "\"games\": 1000}\n");
        if (strncmp(type, "\"decision\"", 10) == 0) {
            if (strncmp(field(line, "phase"), "\"discard\"", 9) == 0) discard(line);
            else play(line);
        }
        fflush(stdout);
    }
    return 0;
}
