// The map: points on a canvas, moved and enlarged by pointer and keys, and a lasso around some. WebGL where there is
// one, so that 50,000 points move with the pointer; else the plain canvas. Nothing is asked of another server.
const mounted = new WeakMap();
const NEAR = 12; // pixels within which a click means a point
const MOST = 200; // corners of a lasso
const STEP = 40; // pixels of an arrow key

export default function (component) {
  const { data, parentElement, setTriggerValue } = component;
  const known = mounted.get(parentElement);
  if (known) {
    known.update(data);
    return undefined;
  }
  const map = new Points(parentElement, setTriggerValue);
  mounted.set(parentElement, map);
  map.update(data);
  return () => {
    mounted.delete(parentElement);
    map.close();
  };
}

class Points {
  constructor(parent, send) {
    this.send = send;
    this.lassoing = false;
    this.path = [];
    this.pointers = new Map();
    this.build(parent);
    this.painter = painterOf(this.canvas);
    this.watch = new ResizeObserver(() => this.resize());
    this.watch.observe(this.frame);
  }

  build(parent) {
    const make = (tag, name, more = {}) => Object.assign(document.createElement(tag), { className: name }, more);
    this.root = make("section", "map");
    const bar = make("div", "bar");
    const button = (act, action) => {
      const made = make("button", "tool", { type: "button" });
      made.dataset.act = act;
      made.addEventListener("click", action);
      bar.append(made);
      return made;
    };
    this.buttons = {
      move: button("move", () => this.choose(false)),
      lasso: button("lasso", () => this.choose(true)),
      closer: button("closer", () => this.zoom(1.5)),
      away: button("away", () => this.zoom(1 / 1.5)),
      fit: button("fit", () => this.fit()),
    };
    this.frame = make("div", "frame");
    this.canvas = make("canvas", "points");
    this.over = make("canvas", "over", { tabIndex: 0 });
    this.over.setAttribute("role", "img");
    this.frame.append(this.canvas, this.over);
    this.status = make("p", "status");
    this.status.setAttribute("role", "status");
    this.legend = make("ul", "legend");
    this.root.append(bar, this.frame, this.status, this.legend);
    parent.append(this.root);
    const on = (name, action, options) => this.over.addEventListener(name, action.bind(this), options);
    on("pointerdown", this.down);
    on("pointermove", this.moved);
    on("pointerup", this.up);
    on("pointercancel", this.up);
    on("wheel", this.wheel, { passive: false });
    on("keydown", this.key);
  }

  async update(data) {
    this.data = data;
    for (const [name, one] of Object.entries(this.buttons)) one.textContent = data.texts[name];
    this.over.setAttribute("aria-label", data.texts.canvas);
    this.choose(this.lassoing);
    this.legend.replaceChildren(...data.legend.map(({ name, colour }) => {
      const item = Object.assign(document.createElement("li"), { textContent: name });
      item.style.setProperty("--colour", colour);
      return item;
    }));
    this.painter.colours(data.legend.map(({ colour }) => colour));
    if (this.address === data.address) return this.draw();
    this.address = data.address;
    this.status.textContent = data.texts.loading;
    try {
      const answer = await fetch(data.address, { credentials: "same-origin" });
      if (!answer.ok) throw new Error((await answer.json()).error);
      this.take(await answer.arrayBuffer());
      this.status.textContent = "";
    } catch (error) {
      this.status.textContent = `${data.texts.failed} ${error.message ?? ""}`;
    }
    return undefined;
  }

  take(buffer) {
    this.count = new DataView(buffer).getUint32(0, true);
    this.places = new Uint16Array(buffer, 4, 2 * this.count);
    this.groups = new Uint8Array(buffer, 4 + 4 * this.count, this.count);
    this.painter.points(this.places, this.groups);
    this.path = [];
    this.resize();
    this.fit();
    this.root.dataset.drawn = String(this.count);
  }

  choose(lassoing) {
    this.lassoing = lassoing;
    this.buttons.move.setAttribute("aria-pressed", String(!lassoing));
    this.buttons.lasso.setAttribute("aria-pressed", String(lassoing));
    this.over.dataset.lasso = String(lassoing);
  }

  resize() {
    const { width, height } = this.frame.getBoundingClientRect();
    const ratio = window.devicePixelRatio || 1;
    for (const canvas of [this.canvas, this.over]) {
      canvas.width = Math.round(width * ratio);
      canvas.height = Math.round(height * ratio);
    }
    const first = !this.width;
    [this.width, this.height, this.ratio] = [width, height, ratio];
    if (first) this.fit();
    this.draw();
  }

  fit() {
    if (!this.width) return;
    this.scale = Math.min(this.width, this.height) * 0.94;
    this.left = (this.width - this.scale) / 2;
    this.top = (this.height - this.scale) / 2;
    this.draw();
  }

  zoom(times, x = this.width / 2, y = this.height / 2) {
    const scale = Math.min(Math.max(this.scale * times, 50), 1e6);
    this.left = x - ((x - this.left) * scale) / this.scale;
    this.top = y - ((y - this.top) * scale) / this.scale;
    this.scale = scale;
    this.draw();
  }

  draw() {
    if (this.due) return;
    this.due = requestAnimationFrame(() => {
      this.due = 0;
      if (this.count) this.painter.draw(this.left, this.top, this.scale, this.ratio);
      this.drawPath();
      this.root.dataset.frames = String(Number(this.root.dataset.frames ?? 0) + 1);
    });
  }

  drawPath() {
    const pen = this.over.getContext("2d");
    pen.setTransform(this.ratio, 0, 0, this.ratio, 0, 0);
    pen.clearRect(0, 0, this.width, this.height);
    if (this.path.length < 2) return;
    pen.beginPath();
    for (const [x, y] of this.path) pen.lineTo(x * this.scale + this.left, y * this.scale + this.top);
    pen.closePath();
    pen.fillStyle = "rgb(42 122 174 / .18)";
    pen.strokeStyle = "#2a7aae";
    pen.lineWidth = 2;
    pen.fill();
    pen.stroke();
  }

  at(event) {
    const { left, top } = this.over.getBoundingClientRect();
    return [event.clientX - left, event.clientY - top];
  }

  down(event) {
    this.over.setPointerCapture(event.pointerId);
    const place = this.at(event);
    this.pointers.set(event.pointerId, place);
    this.start = place;
    this.far = false;
    this.drawing = this.pointers.size === 1 && (this.lassoing || event.shiftKey);
    if (this.drawing) this.path = [this.unit(place)];
  }

  moved(event) {
    const before = this.pointers.get(event.pointerId);
    if (!before) return;
    const now = this.at(event);
    if (Math.hypot(now[0] - this.start[0], now[1] - this.start[1]) > 4) this.far = true;
    if (this.pointers.size === 2) this.pinch(event.pointerId, before, now);
    else if (this.drawing) {
      const last = this.path.at(-1);
      const next = this.unit(now);
      if (Math.hypot(next[0] - last[0], next[1] - last[1]) * this.scale > 3) this.path.push(next);
    } else {
      this.left += now[0] - before[0];
      this.top += now[1] - before[1];
    }
    this.pointers.set(event.pointerId, now);
    this.draw();
  }

  pinch(pointer, before, now) {
    const [, other] = [...this.pointers].find(([name]) => name !== pointer);
    const apart = (place) => Math.hypot(place[0] - other[0], place[1] - other[1]) || 1;
    this.drawing = false;
    this.zoom(apart(now) / apart(before), ...other);
  }

  up(event) {
    if (!this.pointers.delete(event.pointerId) || this.pointers.size > 0) return;
    if (this.drawing && this.far) this.finish();
    else if (!this.far && event.type === "pointerup") this.pick(this.at(event));
    this.drawing = false;
  }

  finish() {
    const step = Math.ceil(this.path.length / MOST);
    this.path = this.path.filter((_, place) => place % step === 0);
    this.draw();
    this.send("lasso", this.path.map((place) => place.map((value) => Math.round(value * 1e5) / 1e5)));
  }

  pick(place) {
    if (!this.count) return;
    let [best, nearest] = [-1, (NEAR / this.scale) ** 2];
    const [x, y] = this.unit(place);
    for (let point = 0; point < this.count; point += 1) {
      const away = (this.places[2 * point] / 65535 - x) ** 2 + (this.places[2 * point + 1] / 65535 - y) ** 2;
      if (away < nearest) [best, nearest] = [point, away];
    }
    if (best >= 0) this.send("picked", best);
  }

  unit([x, y]) {
    return [(x - this.left) / this.scale, (y - this.top) / this.scale];
  }

  wheel(event) {
    event.preventDefault();
    this.zoom(1.0015 ** -event.deltaY, ...this.at(event));
  }

  key(event) {
    const moves = { ArrowLeft: [STEP, 0], ArrowRight: [-STEP, 0], ArrowUp: [0, STEP], ArrowDown: [0, -STEP] };
    if (event.key in moves) {
      this.left += moves[event.key][0];
      this.top += moves[event.key][1];
      this.draw();
    } else if (event.key === "+") this.zoom(1.25);
    else if (event.key === "-") this.zoom(1 / 1.25);
    else if (event.key === "0") this.fit();
    else return;
    event.preventDefault();
  }

  close() {
    this.watch.disconnect();
    cancelAnimationFrame(this.due);
    this.root.remove();
  }
}

const VERTEX = `attribute vec2 place; attribute float group; uniform vec3 view; uniform vec2 size; uniform float dot;
uniform vec3 palette[24]; varying vec3 colour;
void main() { vec2 at = (place * view.z + view.xy) / size * 2.0 - 1.0; gl_Position = vec4(at.x, -at.y, 0, 1);
gl_PointSize = dot; colour = palette[int(group)]; }`;
const FRAGMENT = `precision mediump float; varying vec3 colour;
void main() { if (length(gl_PointCoord - .5) > .5) discard; gl_FragColor = vec4(colour, 1) * .8; }`;

function painterOf(canvas) {
  const gl = canvas.getContext("webgl", { antialias: false });
  return gl ? withGl(canvas, gl) : plainly(canvas);
}

// Few points are large, many are small; all grow a little when the map is enlarged.
function dotOf(count, scale, ratio) {
  return Math.min((22 / count ** 0.19) * Math.max(Math.sqrt(scale / 560), 0.8), 16) * ratio;
}

function withGl(canvas, gl) {
  const program = gl.createProgram();
  for (const [kind, text] of [[gl.VERTEX_SHADER, VERTEX], [gl.FRAGMENT_SHADER, FRAGMENT]]) {
    const shader = gl.createShader(kind);
    gl.shaderSource(shader, text);
    gl.compileShader(shader);
    gl.attachShader(program, shader);
  }
  gl.linkProgram(program);
  gl.useProgram(program);
  gl.enable(gl.BLEND);
  gl.blendFunc(gl.ONE, gl.ONE_MINUS_SRC_ALPHA);
  const uniform = (name) => gl.getUniformLocation(program, name);
  const attribute = (name, values, parts, kind, normal) => {
    gl.bindBuffer(gl.ARRAY_BUFFER, gl.createBuffer());
    gl.bufferData(gl.ARRAY_BUFFER, values, gl.STATIC_DRAW);
    const place = gl.getAttribLocation(program, name);
    gl.enableVertexAttribArray(place);
    gl.vertexAttribPointer(place, parts, kind, normal, 0, 0);
  };
  let count = 0;
  return {
    colours(list) {
      const values = new Float32Array(72);
      list.slice(0, 24).forEach((colour, place) => values.set(parts(colour).map((part) => part / 255), 3 * place));
      gl.uniform3fv(uniform("palette"), values);
    },
    points(places, groups) {
      count = groups.length;
      attribute("place", places, 2, gl.UNSIGNED_SHORT, true);
      attribute("group", groups, 1, gl.UNSIGNED_BYTE, false);
    },
    draw(left, top, scale, ratio) {
      gl.viewport(0, 0, canvas.width, canvas.height);
      gl.clearColor(0, 0, 0, 0);
      gl.clear(gl.COLOR_BUFFER_BIT);
      gl.uniform3f(uniform("view"), left * ratio, top * ratio, scale * ratio);
      gl.uniform2f(uniform("size"), canvas.width, canvas.height);
      gl.uniform1f(uniform("dot"), dotOf(count, scale, ratio));
      gl.drawArrays(gl.POINTS, 0, count);
    },
  };
}

function plainly(canvas) {
  const pen = canvas.getContext("2d");
  let [list, places, groups] = [[], [], []];
  return {
    colours: (colours) => (list = colours),
    points: (...given) => ([places, groups] = given),
    draw(left, top, scale, ratio) {
      pen.clearRect(0, 0, canvas.width, canvas.height);
      pen.globalAlpha = 0.8;
      const size = dotOf(groups.length, scale, ratio);
      for (const [group, colour] of list.entries()) {
        pen.fillStyle = colour;
        for (let point = 0; point < groups.length; point += 1) {
          if (groups[point] !== group) continue;
          const x = ((places[2 * point] / 65535) * scale + left) * ratio;
          const y = ((places[2 * point + 1] / 65535) * scale + top) * ratio;
          if (x > -size && y > -size && x < canvas.width && y < canvas.height) pen.fillRect(x - size / 2, y - size / 2, size, size);
        }
      }
    },
  };
}

function parts(colour) {
  return [1, 3, 5].map((place) => Number.parseInt(colour.slice(place, place + 2), 16));
}
