<?xml version="1.0" encoding="utf-8"?>
<!DOCTYPE TS>
<TS version="2.1" language="zh_CN" sourcelanguage="en">
<context>
    <name>worldpager</name>
    <message>
        <location filename="../../app/audio/devices.py"/>
        <source>the system's</source>
        <translation>随系统</translation>
    </message>
    <message>
        <location filename="../../app/audio/part.py"/>
        <source>no sound: {why}</source>
        <translation>没有声音：{why}</translation>
    </message>
    <message>
        <location filename="../../app/audio/part.py"/>
        <source>sound off</source>
        <translation>声音已关</translation>
    </message>
    <message>
        <location filename="../../app/audio/part.py"/>
        <source>sound on</source>
        <translation>声音已开</translation>
    </message>
    <message>
        <location filename="../../app/audio/part.py"/>
        <source>sound on or off</source>
        <translation>开关声音</translation>
    </message>
    <message>
        <location filename="../../app/capture_actions.py"/>
        <source>record a film</source>
        <translation>录制影片</translation>
    </message>
    <message>
        <location filename="../../app/capture_actions.py"/>
        <source>recordings</source>
        <translation>录像</translation>
    </message>
    <message>
        <location filename="../../app/capture_actions.py"/>
        <source>save the last seconds</source>
        <translation>保存最近几秒</translation>
    </message>
    <message>
        <location filename="../../app/capture_actions.py"/>
        <source>screenshot</source>
        <translation>截图</translation>
    </message>
    <message>
        <location filename="../../app/capture_actions.py"/>
        <source>screenshot of the picture alone</source>
        <translation>只截画面</translation>
    </message>
    <message>
        <location filename="../../app/capture_commands.py"/>
        <source>({n} frames were left out: the encoder fell behind)</source>
        <translation>（略去了 {n} 帧：编码器跟不上）</translation>
    </message>
    <message>
        <location filename="../../app/capture_commands.py"/>
        <source>film saved: {path}</source>
        <translation>影片已保存：{path}</translation>
    </message>
    <message>
        <location filename="../../app/capture_commands.py"/>
        <source>finishing the film</source>
        <translation>正在完成影片</translation>
    </message>
    <message>
        <location filename="../../app/capture_commands.py"/>
        <source>no film: nothing was played meanwhile</source>
        <translation>没有影片：期间没有播放任何内容</translation>
    </message>
    <message>
        <location filename="../../app/capture_commands.py"/>
        <source>replay</source>
        <translation>回放</translation>
    </message>
    <message>
        <location filename="../../app/capture_commands.py"/>
        <source>screenshot saved: {path}</source>
        <translation>截图已保存：{path}</translation>
    </message>
    <message>
        <location filename="../../app/capture_commands.py"/>
        <source>the last {seconds} s saved: {path}</source>
        <translation>最近 {seconds} 秒已保存：{path}</translation>
    </message>
    <message>
        <location filename="../../app/capture_commands.py"/>
        <source>the replay buffer is off: see the settings</source>
        <translation>回放缓冲已关闭：请看设置</translation>
    </message>
    <message>
        <location filename="../../app/care.py"/>
        <source>Ending</source>
        <translation>正在结束</translation>
    </message>
    <message>
        <location filename="../../app/care.py"/>
        <source>copy a report</source>
        <translation>复制报告</translation>
    </message>
    <message>
        <location filename="../../app/care.py"/>
        <source>no picture for {seconds} s: the world seems stuck</source>
        <translation>{seconds} 秒没有新画面：世界似乎卡住了</translation>
    </message>
    <message>
        <location filename="../../app/care.py"/>
        <source>the last run ended unexpectedly: {key} copies a report</source>
        <translation>上次运行意外结束：按 {key} 复制报告</translation>
    </message>
    <message>
        <location filename="../../app/care.py"/>
        <source>the report is in the clipboard; nothing has been sent</source>
        <translation>报告已在剪贴板中；没有发送任何内容</translation>
    </message>
    <message>
        <location filename="../../app/engine_words.py"/>
        <source>Loading the model</source>
        <translation>正在加载模型</translation>
    </message>
    <message>
        <location filename="../../app/engine_words.py"/>
        <source>Looking at the machine</source>
        <translation>正在检查机器</translation>
    </message>
    <message>
        <location filename="../../app/engine_words.py"/>
        <source>Making room for the memory</source>
        <translation>正在为记忆分配空间</translation>
    </message>
    <message>
        <location filename="../../app/engine_words.py"/>
        <source>Opening the world</source>
        <translation>正在打开世界</translation>
    </message>
    <message>
        <location filename="../../app/engine_words.py"/>
        <source>Ready</source>
        <translation>就绪</translation>
    </message>
    <message>
        <location filename="../../app/engine_words.py"/>
        <source>Starting the engine</source>
        <translation>正在启动引擎</translation>
    </message>
    <message>
        <location filename="../../app/engine_words.py"/>
        <source>a drawn world without weights, for tests and trials</source>
        <translation>没有权重的绘制世界，供测试和试验</translation>
    </message>
    <message>
        <location filename="../../app/engine_words.py"/>
        <source>buffered</source>
        <translation>经缓存读写</translation>
    </message>
    <message>
        <location filename="../../app/engine_words.py"/>
        <source>device</source>
        <translation>设备</translation>
    </message>
    <message>
        <location filename="../../app/engine_words.py"/>
        <source>direct I/O</source>
        <translation>直接读写</translation>
    </message>
    <message>
        <location filename="../../app/engine_words.py"/>
        <source>disk</source>
        <translation>磁盘</translation>
    </message>
    <message>
        <location filename="../../app/engine_words.py"/>
        <source>generate</source>
        <translation>生成</translation>
    </message>
    <message>
        <location filename="../../app/engine_words.py"/>
        <source>host</source>
        <translation>主存</translation>
    </message>
    <message>
        <location filename="../../app/engine_words.py"/>
        <source>place</source>
        <translation>放置</translation>
    </message>
    <message>
        <location filename="../../app/engine_words.py"/>
        <source>put</source>
        <translation>存入</translation>
    </message>
    <message>
        <location filename="../../app/engine_words.py"/>
        <source>rest</source>
        <translation>其余</translation>
    </message>
    <message>
        <location filename="../../app/engine_words.py"/>
        <source>take</source>
        <translation>取用</translation>
    </message>
    <message>
        <location filename="../../app/engine_words.py"/>
        <source>the trained world model that ships with the program</source>
        <translation>随程序附带的已训练世界模型</translation>
    </message>
    <message>
        <location filename="../../app/input/bindings.py"/>
        <source>look down</source>
        <translation>低头</translation>
    </message>
    <message>
        <location filename="../../app/input/bindings.py"/>
        <source>look up</source>
        <translation>抬头</translation>
    </message>
    <message>
        <location filename="../../app/input/bindings.py"/>
        <source>run</source>
        <translation>奔跑</translation>
    </message>
    <message>
        <location filename="../../app/input/bindings.py"/>
        <source>turn left</source>
        <translation>左转</translation>
    </message>
    <message>
        <location filename="../../app/input/bindings.py"/>
        <source>turn right</source>
        <translation>右转</translation>
    </message>
    <message>
        <location filename="../../app/input/bindings.py"/>
        <source>walk back</source>
        <translation>向后走</translation>
    </message>
    <message>
        <location filename="../../app/input/bindings.py"/>
        <source>walk forward</source>
        <translation>向前走</translation>
    </message>
    <message>
        <location filename="../../app/input/bindings.py"/>
        <source>walk left</source>
        <translation>向左走</translation>
    </message>
    <message>
        <location filename="../../app/input/bindings.py"/>
        <source>walk right</source>
        <translation>向右走</translation>
    </message>
    <message>
        <location filename="../../app/input_feedback.py"/>
        <source>show what the model receives</source>
        <translation>显示模型收到的输入</translation>
    </message>
    <message>
        <location filename="../../app/machine_words.py"/>
        <source>GPU: {name}, {bytes}</source>
        <translation>GPU：{name}，{bytes}</translation>
    </message>
    <message>
        <location filename="../../app/machine_words.py"/>
        <source>How long {model} can play until a tier is full is known once it has been played here.</source>
        <translation>在这里玩过一次 {model} 后，才知道多久会填满一层存储。</translation>
    </message>
    <message>
        <location filename="../../app/machine_words.py"/>
        <source>Not here yet: add a folder with its published files, or run “worldpager models fetch {name}”.</source>
        <translation>尚未安装：添加含有已发布文件的文件夹，或运行“worldpager models fetch {name}”。</translation>
    </message>
    <message>
        <location filename="../../app/machine_words.py"/>
        <source>disk: {free} free, {budget} for blocks</source>
        <translation>磁盘：剩余 {free}，其中 {budget} 用于记忆块</translation>
    </message>
    <message>
        <location filename="../../app/machine_words.py"/>
        <source>main memory: {all}</source>
        <translation>主存：{all}</translation>
    </message>
    <message>
        <location filename="../../app/machine_words.py"/>
        <source>no GPU: the processor computes</source>
        <translation>没有 GPU：由处理器计算</translation>
    </message>
    <message>
        <location filename="../../app/machine_words.py"/>
        <source>no disk tier: what main memory can't hold is not remembered</source>
        <translation>没有磁盘层：主存放不下的不会被记住</translation>
    </message>
    <message>
        <location filename="../../app/machine_words.py"/>
        <source>{bytes} of weights</source>
        <translation>权重 {bytes}</translation>
    </message>
    <message>
        <location filename="../../app/machine_words.py"/>
        <source>{minutes} min of new places until blocks go to disk</source>
        <translation>再探索 {minutes} 分钟新地方后记忆块开始写入磁盘</translation>
    </message>
    <message>
        <location filename="../../app/machine_words.py"/>
        <source>{minutes} min until the disk tier is full</source>
        <translation>{minutes} 分钟后磁盘层填满</translation>
    </message>
    <message>
        <location filename="../../app/machine_words.py"/>
        <source>{model} made {fps} frames a second here last time</source>
        <translation>上次在这里 {model} 每秒生成 {fps} 帧</translation>
    </message>
    <message>
        <location filename="../../app/machine_words.py"/>
        <source>{summary}; {bytes} of main memory for its blocks</source>
        <translation>{summary}；其记忆块占用主存 {bytes}</translation>
    </message>
    <message>
        <location filename="../../app/memory_view/chunks_pane.py"/>
        <source>below: on disk</source>
        <translation>下方：在磁盘上</translation>
    </message>
    <message>
        <location filename="../../app/memory_view/chunks_pane.py"/>
        <source>first</source>
        <translation>最初</translation>
    </message>
    <message>
        <location filename="../../app/memory_view/chunks_pane.py"/>
        <source>in time</source>
        <translation>及时</translation>
    </message>
    <message>
        <location filename="../../app/memory_view/chunks_pane.py"/>
        <source>looks back at</source>
        <translation>回看</translation>
    </message>
    <message>
        <location filename="../../app/memory_view/chunks_pane.py"/>
        <source>missing</source>
        <translation>缺失</translation>
    </message>
    <message>
        <location filename="../../app/memory_view/chunks_pane.py"/>
        <source>none: the street never waited for bytes</source>
        <translation>没有：从未等待过数据</translation>
    </message>
    <message>
        <location filename="../../app/memory_view/chunks_pane.py"/>
        <source>now</source>
        <translation>现在</translation>
    </message>
    <message>
        <location filename="../../app/memory_view/chunks_pane.py"/>
        <source>stale</source>
        <translation>陈旧</translation>
    </message>
    <message>
        <location filename="../../app/memory_view/chunks_pane.py"/>
        <source>stalls</source>
        <translation>停顿</translation>
    </message>
    <message>
        <location filename="../../app/memory_view/chunks_pane.py"/>
        <source>wanted</source>
        <translation>需要</translation>
    </message>
    <message>
        <location filename="../../app/memory_view/compare_pane.py"/>
        <source>chunk {n}</source>
        <translation>第 {n} 块</translation>
    </message>
    <message>
        <location filename="../../app/memory_view/compare_pane.py"/>
        <source>in memory</source>
        <translation>在内存中</translation>
    </message>
    <message>
        <location filename="../../app/memory_view/compare_pane.py"/>
        <source>not seen twice yet</source>
        <translation>还没有看到第二次</translation>
    </message>
    <message>
        <location filename="../../app/memory_view/compare_pane.py"/>
        <source>spilled</source>
        <translation>已溢出</translation>
    </message>
    <message>
        <location filename="../../app/memory_view/compare_pane.py"/>
        <source>the same place</source>
        <translation>同一个地方</translation>
    </message>
    <message>
        <location filename="../../app/memory_view/compare_pane.py"/>
        <source>{db} dB alike</source>
        <translation>相似度 {db} dB</translation>
    </message>
    <message>
        <location filename="../../app/memory_view/heads.py"/>
        <source>frames a second</source>
        <translation>每秒帧数</translation>
    </message>
    <message>
        <location filename="../../app/memory_view/heads.py"/>
        <source>key to picture</source>
        <translation>按键到画面</translation>
    </message>
    <message>
        <location filename="../../app/memory_view/heads.py"/>
        <source>world {seed}</source>
        <translation>世界 {seed}</translation>
    </message>
    <message>
        <location filename="../../app/memory_view/modes.py"/>
        <source>Full system</source>
        <translation>完整系统</translation>
    </message>
    <message>
        <location filename="../../app/memory_view/modes.py"/>
        <source>Host only</source>
        <translation>仅主存</translation>
    </message>
    <message>
        <location filename="../../app/memory_view/modes.py"/>
        <source>Sliding window</source>
        <translation>滑动窗口</translation>
    </message>
    <message>
        <location filename="../../app/memory_view/modes.py"/>
        <source>all tiers, read ahead of time</source>
        <translation>所有层，提前读取</translation>
    </message>
    <message>
        <location filename="../../app/memory_view/modes.py"/>
        <source>keeps what main memory holds</source>
        <translation>只保留主存放得下的</translation>
    </message>
    <message>
        <location filename="../../app/memory_view/modes.py"/>
        <source>sees only the last chunks</source>
        <translation>只看得到最近的块</translation>
    </message>
    <message>
        <location filename="../../app/memory_view/part.py"/>
        <source>See whether the disk is full.</source>
        <translation>请检查磁盘是否已满。</translation>
    </message>
    <message>
        <location filename="../../app/memory_view/part.py"/>
        <source>The picture {path} can't be written.</source>
        <translation>图片 {path} 无法写入。</translation>
    </message>
    <message>
        <location filename="../../app/memory_view/part.py"/>
        <source>memory</source>
        <translation>记忆</translation>
    </message>
    <message>
        <location filename="../../app/memory_view/part.py"/>
        <source>save the memory's data</source>
        <translation>保存记忆数据</translation>
    </message>
    <message>
        <location filename="../../app/memory_view/part.py"/>
        <source>saved: {path} (.csv, .json, .png)</source>
        <translation>已保存：{path}（.csv、.json、.png）</translation>
    </message>
    <message>
        <location filename="../../app/memory_view/part.py"/>
        <source>the memory, large</source>
        <translation>放大显示记忆</translation>
    </message>
    <message>
        <location filename="../../app/memory_view/tier_pane.py"/>
        <source>copy above</source>
        <translation>上层有副本</translation>
    </message>
    <message>
        <location filename="../../app/memory_view/tier_pane.py"/>
        <source>in use</source>
        <translation>使用中</translation>
    </message>
    <message>
        <location filename="../../app/memory_view/tier_pane.py"/>
        <source>not yet on disk</source>
        <translation>尚未写入磁盘</translation>
    </message>
    <message>
        <location filename="../../app/memory_view/tier_pane.py"/>
        <source>on disk, too</source>
        <translation>磁盘上也有</translation>
    </message>
    <message>
        <location filename="../../app/memory_view/tier_pane.py"/>
        <source>only here</source>
        <translation>仅此一份</translation>
    </message>
    <message>
        <location filename="../../app/memory_view/tier_pane.py"/>
        <source>read {read}/s   written {written}/s</source>
        <translation>读取 {read}/秒   写入 {written}/秒</translation>
    </message>
    <message>
        <location filename="../../app/memory_view/tier_pane.py"/>
        <source>ready</source>
        <translation>就绪</translation>
    </message>
    <message>
        <location filename="../../app/memory_view/tier_pane.py"/>
        <source>there is no such tier here</source>
        <translation>这里没有这一层</translation>
    </message>
    <message>
        <location filename="../../app/memory_view/tier_pane.py"/>
        <source>{used} of {all} blocks</source>
        <translation>{all} 块中的 {used} 块</translation>
    </message>
    <message>
        <location filename="../../app/memory_view/tour.py"/>
        <source>Away and straight back: is it still the same?</source>
        <translation>离开再立刻回来：还一样吗？</translation>
    </message>
    <message>
        <location filename="../../app/memory_view/tour.py"/>
        <source>Back to where it began</source>
        <translation>回到起点</translation>
    </message>
    <message>
        <location filename="../../app/memory_view/tour.py"/>
        <source>Looking around again: does the world remember?</source>
        <translation>再次环顾：世界还记得吗？</translation>
    </message>
    <message>
        <location filename="../../app/memory_view/tour.py"/>
        <source>Looking around, once</source>
        <translation>环顾一圈</translation>
    </message>
    <message>
        <location filename="../../app/memory_view/tour.py"/>
        <source>Turning on the spot: main memory fills, old blocks move to disk</source>
        <translation>原地转身：主存渐满，旧块移到磁盘</translation>
    </message>
    <message>
        <location filename="../../app/memory_view/tour.py"/>
        <source>Walking off, into land that nobody has seen</source>
        <translation>走向无人见过的地方</translation>
    </message>
    <message>
        <location filename="../../app/overlay/chunk_timeline.py"/>
        <source>spill at {chunk}</source>
        <translation>在第 {chunk} 块溢出</translation>
    </message>
    <message>
        <location filename="../../app/overlay/chunk_timeline.py"/>
        <source>timeline</source>
        <translation>时间线</translation>
    </message>
    <message>
        <location filename="../../app/overlay/input_card.py"/>
        <source>what the model receives</source>
        <translation>模型收到的输入</translation>
    </message>
    <message>
        <location filename="../../app/overlay/memory_card.py"/>
        <source>disk traffic</source>
        <translation>磁盘流量</translation>
    </message>
    <message>
        <location filename="../../app/overlay/memory_card.py"/>
        <source>full: new ones are not kept</source>
        <translation>已满：不再保存新块</translation>
    </message>
    <message>
        <location filename="../../app/overlay/memory_card.py"/>
        <source>full: the least useful go</source>
        <translation>已满：舍弃最少用的块</translation>
    </message>
    <message>
        <location filename="../../app/overlay/memory_card.py"/>
        <source>hits</source>
        <translation>命中</translation>
    </message>
    <message>
        <location filename="../../app/overlay/memory_card.py"/>
        <source>longest wait {ms} ms</source>
        <translation>最长等待 {ms} 毫秒</translation>
    </message>
    <message>
        <location filename="../../app/overlay/memory_card.py"/>
        <source>misses</source>
        <translation>未命中</translation>
    </message>
    <message>
        <location filename="../../app/overlay/memory_card.py"/>
        <source>no disk tier to spill to</source>
        <translation>没有可溢出的磁盘层</translation>
    </message>
    <message>
        <location filename="../../app/overlay/memory_card.py"/>
        <source>one chunk</source>
        <translation>一块</translation>
    </message>
    <message>
        <location filename="../../app/overlay/memory_card.py"/>
        <source>read</source>
        <translation>读取</translation>
    </message>
    <message>
        <location filename="../../app/overlay/memory_card.py"/>
        <source>spill</source>
        <translation>溢出</translation>
    </message>
    <message>
        <location filename="../../app/overlay/memory_card.py"/>
        <source>spills at chunk {chunk}, in {left}</source>
        <translation>在第 {chunk} 块溢出，还有 {left}</translation>
    </message>
    <message>
        <location filename="../../app/overlay/memory_card.py"/>
        <source>stall over 0.5 ms</source>
        <translation>次停顿超过 0.5 毫秒</translation>
    </message>
    <message>
        <location filename="../../app/overlay/memory_card.py"/>
        <source>stalls over 0.5 ms</source>
        <translation>次停顿超过 0.5 毫秒</translation>
    </message>
    <message>
        <location filename="../../app/overlay/memory_card.py"/>
        <source>unused</source>
        <translation>未使用</translation>
    </message>
    <message>
        <location filename="../../app/overlay/memory_card.py"/>
        <source>written</source>
        <translation>写入</translation>
    </message>
    <message>
        <location filename="../../app/overlay/memory_card.py"/>
        <source>{bytes} in all</source>
        <translation>共 {bytes}</translation>
    </message>
    <message>
        <location filename="../../app/overlay/memory_card.py"/>
        <source>{count} blocks</source>
        <translation>{count} 块</translation>
    </message>
    <message>
        <location filename="../../app/overlay/memory_card.py"/>
        <source>{count} blocks spilled to disk</source>
        <translation>{count} 块已溢出到磁盘</translation>
    </message>
    <message>
        <location filename="../../app/overlay/memory_card.py"/>
        <source>{share} dirty</source>
        <translation>{share} 未写回</translation>
    </message>
    <message>
        <location filename="../../app/overlay/pose_map.py"/>
        <source>map</source>
        <translation>地图</translation>
    </message>
    <message>
        <location filename="../../app/overlay/pose_map.py"/>
        <source>next</source>
        <translation>接下来</translation>
    </message>
    <message>
        <location filename="../../app/overlay/status_card.py"/>
        <source>at rest</source>
        <translation>静止</translation>
    </message>
    <message>
        <location filename="../../app/overlay/status_card.py"/>
        <source>chunk {number}</source>
        <translation>第 {number} 块</translation>
    </message>
    <message>
        <location filename="../../app/overlay/status_card.py"/>
        <source>fps</source>
        <translation>帧/秒</translation>
    </message>
    <message>
        <location filename="../../app/overlay/status_card.py"/>
        <source>generated</source>
        <translation>已生成</translation>
    </message>
    <message>
        <location filename="../../app/overlay/status_card.py"/>
        <source>no stalls</source>
        <translation>没有停顿</translation>
    </message>
    <message>
        <location filename="../../app/overlay/status_card.py"/>
        <source>recorded</source>
        <translation>已录制</translation>
    </message>
    <message>
        <location filename="../../app/overlay/status_card.py"/>
        <source>screen</source>
        <translation>屏幕</translation>
    </message>
    <message>
        <location filename="../../app/overlay/status_card.py"/>
        <source>shown</source>
        <translation>已显示</translation>
    </message>
    <message>
        <location filename="../../app/overlay/status_card.py"/>
        <source>{count} stalls</source>
        <translation>{count} 次停顿</translation>
    </message>
    <message>
        <location filename="../../app/overlay/status_card.py"/>
        <source>{delay} key to picture</source>
        <translation>按键到画面 {delay}</translation>
    </message>
    <message>
        <location filename="../../app/pad_actions.py"/>
        <source>A, B, X, Y</source>
        <translation>A、B、X、Y</translation>
    </message>
    <message>
        <location filename="../../app/pad_actions.py"/>
        <source>Start</source>
        <translation>Start 键</translation>
    </message>
    <message>
        <location filename="../../app/pad_actions.py"/>
        <source>gamepad: {name}</source>
        <translation>手柄：{name}</translation>
    </message>
    <message>
        <location filename="../../app/pad_actions.py"/>
        <source>left stick, cross</source>
        <translation>左摇杆、方向键</translation>
    </message>
    <message>
        <location filename="../../app/pad_actions.py"/>
        <source>pause, panels, screenshot, memory</source>
        <translation>暂停、面板、截图、记忆</translation>
    </message>
    <message>
        <location filename="../../app/pad_actions.py"/>
        <source>right stick, shoulders</source>
        <translation>右摇杆、肩键</translation>
    </message>
    <message>
        <location filename="../../app/pad_actions.py"/>
        <source>right trigger</source>
        <translation>右扳机</translation>
    </message>
    <message>
        <location filename="../../app/pad_actions.py"/>
        <source>start page</source>
        <translation>开始页</translation>
    </message>
    <message>
        <location filename="../../app/pad_actions.py"/>
        <source>the gamepad is gone</source>
        <translation>手柄已断开</translation>
    </message>
    <message>
        <location filename="../../app/pad_actions.py"/>
        <source>turn and look</source>
        <translation>转身和观看</translation>
    </message>
    <message>
        <location filename="../../app/pad_actions.py"/>
        <source>walk</source>
        <translation>行走</translation>
    </message>
    <message>
        <location filename="../../app/panels/branches_panel.py"/>
        <source>, you are here</source>
        <translation>，你在这里</translation>
    </message>
    <message>
        <location filename="../../app/panels/branches_panel.py"/>
        <source>A scratch world: it goes when you leave it.</source>
        <translation>临时世界：离开后就会消失。</translation>
    </message>
    <message>
        <location filename="../../app/panels/branches_panel.py"/>
        <source>Back to play</source>
        <translation>返回游玩</translation>
    </message>
    <message>
        <location filename="../../app/panels/branches_panel.py"/>
        <source>Bookmarks</source>
        <translation>书签</translation>
    </message>
    <message>
        <location filename="../../app/panels/branches_panel.py"/>
        <source>Branches</source>
        <translation>分支</translation>
    </message>
    <message>
        <location filename="../../app/panels/branches_panel.py"/>
        <source>Branches and bookmarks</source>
        <translation>分支和书签</translation>
    </message>
    <message>
        <location filename="../../app/panels/branches_panel.py"/>
        <source>Delete</source>
        <translation>删除</translation>
    </message>
    <message>
        <location filename="../../app/panels/branches_panel.py"/>
        <source>For good?</source>
        <translation>确定永久删除？</translation>
    </message>
    <message>
        <location filename="../../app/panels/branches_panel.py"/>
        <source>Go there</source>
        <translation>前往</translation>
    </message>
    <message>
        <location filename="../../app/panels/branches_panel.py"/>
        <source>Go to chunk {number}</source>
        <translation>前往第 {number} 块</translation>
    </message>
    <message>
        <location filename="../../app/panels/branches_panel.py"/>
        <source>Keep this world</source>
        <translation>保存这个世界</translation>
    </message>
    <message>
        <location filename="../../app/panels/branches_panel.py"/>
        <source>Kept in {folder}, {size}.</source>
        <translation>保存在 {folder}，{size}。</translation>
    </message>
    <message>
        <location filename="../../app/panels/branches_panel.py"/>
        <source>Name of branch {name}</source>
        <translation>分支 {name} 的名称</translation>
    </message>
    <message>
        <location filename="../../app/panels/branches_panel.py"/>
        <source>None yet. Ctrl+B marks the place where you stand.</source>
        <translation>还没有。Ctrl+B 标记你所在的位置。</translation>
    </message>
    <message>
        <location filename="../../app/panels/branches_panel.py"/>
        <source>Remove bookmark {name}</source>
        <translation>移除书签 {name}</translation>
    </message>
    <message>
        <location filename="../../app/panels/branches_panel.py"/>
        <source>Stand at {name} again</source>
        <translation>回到 {name}</translation>
    </message>
    <message>
        <location filename="../../app/panels/branches_panel.py"/>
        <source>{count} chunks</source>
        <translation>{count} 块</translation>
    </message>
    <message>
        <location filename="../../app/panels/counters_panel.py"/>
        <source>Close</source>
        <translation>关闭</translation>
    </message>
    <message>
        <location filename="../../app/panels/counters_panel.py"/>
        <source>Copy</source>
        <translation>复制</translation>
    </message>
    <message>
        <location filename="../../app/panels/counters_panel.py"/>
        <source>Counters</source>
        <translation>计数器</translation>
    </message>
    <message>
        <location filename="../../app/panels/counters_panel.py"/>
        <source>blocks</source>
        <translation>记忆块</translation>
    </message>
    <message>
        <location filename="../../app/panels/counters_panel.py"/>
        <source>chunk</source>
        <translation>块</translation>
    </message>
    <message>
        <location filename="../../app/panels/counters_panel.py"/>
        <source>days until a drive for 600 TB is used up</source>
        <translation>写满 600 TB 寿命的天数</translation>
    </message>
    <message>
        <location filename="../../app/panels/counters_panel.py"/>
        <source>failed moves</source>
        <translation>失败的移动</translation>
    </message>
    <message>
        <location filename="../../app/panels/counters_panel.py"/>
        <source>generated frames a second</source>
        <translation>每秒生成帧数</translation>
    </message>
    <message>
        <location filename="../../app/panels/counters_panel.py"/>
        <source>given up for newer blocks</source>
        <translation>为新块舍弃的块</translation>
    </message>
    <message>
        <location filename="../../app/panels/counters_panel.py"/>
        <source>longest wait</source>
        <translation>最长等待</translation>
    </message>
    <message>
        <location filename="../../app/panels/counters_panel.py"/>
        <source>model</source>
        <translation>模型</translation>
    </message>
    <message>
        <location filename="../../app/panels/counters_panel.py"/>
        <source>natural frames a second</source>
        <translation>每秒自然帧数</translation>
    </message>
    <message>
        <location filename="../../app/panels/counters_panel.py"/>
        <source>not kept for want of room</source>
        <translation>因空间不足未保留</translation>
    </message>
    <message>
        <location filename="../../app/panels/counters_panel.py"/>
        <source>recorded frames a second</source>
        <translation>每秒录制帧数</translation>
    </message>
    <message>
        <location filename="../../app/panels/counters_panel.py"/>
        <source>screen refreshes a second</source>
        <translation>屏幕每秒刷新</translation>
    </message>
    <message>
        <location filename="../../app/panels/counters_panel.py"/>
        <source>shown frames a second</source>
        <translation>每秒显示帧数</translation>
    </message>
    <message>
        <location filename="../../app/panels/counters_panel.py"/>
        <source>world</source>
        <translation>世界</translation>
    </message>
    <message>
        <location filename="../../app/panels/counters_panel.py"/>
        <source>written a minute of the world</source>
        <translation>世界每分钟写入</translation>
    </message>
    <message>
        <location filename="../../app/panels/films_panel.py"/>
        <source>Back</source>
        <translation>返回</translation>
    </message>
    <message>
        <location filename="../../app/panels/films_panel.py"/>
        <source>Make a clip</source>
        <translation>制作片段</translation>
    </message>
    <message>
        <location filename="../../app/panels/films_panel.py"/>
        <source>Nothing is recorded yet: F9 films, F8 saves the last seconds. They go to {folder}.</source>
        <translation>还没有录制任何内容：F9 录制，F8 保存最近几秒。它们保存在 {folder}。</translation>
    </message>
    <message>
        <location filename="../../app/panels/films_panel.py"/>
        <source>Play</source>
        <translation>播放</translation>
    </message>
    <message>
        <location filename="../../app/panels/films_panel.py"/>
        <source>Really delete</source>
        <translation>确定删除</translation>
    </message>
    <message>
        <location filename="../../app/panels/films_panel.py"/>
        <source>Recordings</source>
        <translation>录像</translation>
    </message>
    <message>
        <location filename="../../app/panels/films_panel.py"/>
        <source>Rename</source>
        <translation>重命名</translation>
    </message>
    <message>
        <location filename="../../app/panels/films_panel.py"/>
        <source>Show in folder</source>
        <translation>在文件夹中显示</translation>
    </message>
    <message>
        <location filename="../../app/panels/films_panel.py"/>
        <source>Stop</source>
        <translation>停止</translation>
    </message>
    <message>
        <location filename="../../app/panels/films_panel.py"/>
        <source>System's player</source>
        <translation>系统播放器</translation>
    </message>
    <message>
        <location filename="../../app/panels/films_panel.py"/>
        <source>clip saved: {path}</source>
        <translation>片段已保存：{path}</translation>
    </message>
    <message>
        <location filename="../../app/panels/films_panel.py"/>
        <source>making a clip</source>
        <translation>正在制作片段</translation>
    </message>
    <message>
        <location filename="../../app/panels/films_panel.py"/>
        <source>new name</source>
        <translation>新名称</translation>
    </message>
    <message>
        <location filename="../../app/panels/films_panel.py"/>
        <source>{name} is deleted</source>
        <translation>{name} 已删除</translation>
    </message>
    <message>
        <location filename="../../app/panels/films_panel.py"/>
        <source>{name} lies in the trash</source>
        <translation>{name} 已移到回收站</translation>
    </message>
    <message>
        <location filename="../../app/panels/folder_row.py"/>
        <source> (through the system's cache)</source>
        <translation>（经过系统缓存）</translation>
    </message>
    <message>
        <location filename="../../app/panels/folder_row.py"/>
        <source>Choose …</source>
        <translation>选择……</translation>
    </message>
    <message>
        <location filename="../../app/panels/folder_row.py"/>
        <source>Measure</source>
        <translation>测速</translation>
    </message>
    <message>
        <location filename="../../app/panels/folder_row.py"/>
        <source>The usual one</source>
        <translation>默认位置</translation>
    </message>
    <message>
        <location filename="../../app/panels/folder_row.py"/>
        <source>measuring …</source>
        <translation>正在测量……</translation>
    </message>
    <message>
        <location filename="../../app/panels/folder_row.py"/>
        <source>writes {write}/s, reads {read}/s</source>
        <translation>写入 {write}/秒，读取 {read}/秒</translation>
    </message>
    <message>
        <location filename="../../app/panels/folder_row.py"/>
        <source>{free} free</source>
        <translation>剩余 {free}</translation>
    </message>
    <message>
        <location filename="../../app/panels/key_hint.py"/>
        <source>all keys</source>
        <translation>所有按键</translation>
    </message>
    <message>
        <location filename="../../app/panels/key_hint.py"/>
        <source>another world</source>
        <translation>另一个世界</translation>
    </message>
    <message>
        <location filename="../../app/panels/key_hint.py"/>
        <source>drive</source>
        <translation>驾驶</translation>
    </message>
    <message>
        <location filename="../../app/panels/key_hint.py"/>
        <source>jump</source>
        <translation>跳跃</translation>
    </message>
    <message>
        <location filename="../../app/panels/key_hint.py"/>
        <source>look</source>
        <translation>观看</translation>
    </message>
    <message>
        <location filename="../../app/panels/key_hint.py"/>
        <source>mouse</source>
        <translation>鼠标</translation>
    </message>
    <message>
        <location filename="../../app/panels/key_hint.py"/>
        <source>panels</source>
        <translation>面板</translation>
    </message>
    <message>
        <location filename="../../app/panels/key_hint.py"/>
        <source>pause</source>
        <translation>暂停</translation>
    </message>
    <message>
        <location filename="../../app/panels/key_hint.py"/>
        <source>slide</source>
        <translation>滑铲</translation>
    </message>
    <message>
        <location filename="../../app/panels/key_hint.py"/>
        <source>steer</source>
        <translation>转向</translation>
    </message>
    <message>
        <location filename="../../app/panels/key_hint.py"/>
        <source>step aside</source>
        <translation>横移</translation>
    </message>
    <message>
        <location filename="../../app/panels/key_hint.py"/>
        <source>turn</source>
        <translation>转弯</translation>
    </message>
    <message>
        <location filename="../../app/panels/keys_page.py"/>
        <source>All keys to defaults</source>
        <translation>恢复所有默认按键</translation>
    </message>
    <message>
        <location filename="../../app/panels/keys_page.py"/>
        <source>KEEP</source>
        <translation>保存</translation>
    </message>
    <message>
        <location filename="../../app/panels/keys_page.py"/>
        <source>MOVE</source>
        <translation>移动</translation>
    </message>
    <message>
        <location filename="../../app/panels/keys_page.py"/>
        <source>PLAY</source>
        <translation>游玩</translation>
    </message>
    <message>
        <location filename="../../app/panels/keys_page.py"/>
        <source>Press a button, then the key you want. Backspace takes the keys away. The mouse looks as well.</source>
        <translation>先按按钮，再按想要的键。退格键清除按键。鼠标也可以用来观看。</translation>
    </message>
    <message>
        <location filename="../../app/panels/keys_page.py"/>
        <source>Press the key for “{what}”. Esc leaves it as it is.</source>
        <translation>请按用于“{what}”的键。Esc 保持不变。</translation>
    </message>
    <message>
        <location filename="../../app/panels/keys_page.py"/>
        <source>That key can't be used. Press another one.</source>
        <translation>该键无法使用，请按其他键。</translation>
    </message>
    <message>
        <location filename="../../app/panels/keys_page.py"/>
        <source>VIEW</source>
        <translation>显示</translation>
    </message>
    <message>
        <location filename="../../app/panels/keys_page.py"/>
        <source>WINDOW</source>
        <translation>窗口</translation>
    </message>
    <message>
        <location filename="../../app/panels/keys_page.py"/>
        <source>no key</source>
        <translation>无按键</translation>
    </message>
    <message>
        <location filename="../../app/panels/keys_page.py"/>
        <source>press a key …</source>
        <translation>请按键……</translation>
    </message>
    <message>
        <location filename="../../app/panels/keys_page.py"/>
        <source>{key} always means “{what}”. Press another key.</source>
        <translation>{key} 固定用于“{what}”，请按其他键。</translation>
    </message>
    <message>
        <location filename="../../app/panels/keys_page.py"/>
        <source>“{what}” has no key now.</source>
        <translation>“{what}”现在没有按键。</translation>
    </message>
    <message>
        <location filename="../../app/panels/keys_page.py"/>
        <source>⚠ {key} already means “{what}”. Press it again to take it from there, or another key.</source>
        <translation>⚠ {key} 已用于“{what}”。再按一次即可改用，或按其他键。</translation>
    </message>
    <message>
        <location filename="../../app/panels/loading_page.py"/>
        <source>Cancel</source>
        <translation>取消</translation>
    </message>
    <message>
        <location filename="../../app/panels/loading_page.py"/>
        <source>Starting</source>
        <translation>正在启动</translation>
    </message>
    <message>
        <location filename="../../app/panels/loading_page.py"/>
        <source>worlds that remember</source>
        <translation>会记忆的世界</translation>
    </message>
    <message>
        <location filename="../../app/panels/message_panel.py"/>
        <source>Copy report</source>
        <translation>复制报告</translation>
    </message>
    <message>
        <location filename="../../app/panels/message_panel.py"/>
        <source>Quit</source>
        <translation>退出</translation>
    </message>
    <message>
        <location filename="../../app/panels/message_panel.py"/>
        <source>Something went wrong</source>
        <translation>出了问题</translation>
    </message>
    <message>
        <location filename="../../app/panels/message_panel.py"/>
        <source>Start page</source>
        <translation>开始页</translation>
    </message>
    <message>
        <location filename="../../app/panels/message_panel.py"/>
        <source>That can't be used</source>
        <translation>无法使用</translation>
    </message>
    <message>
        <location filename="../../app/panels/message_panel.py"/>
        <source>The memory can't be made</source>
        <translation>无法建立记忆</translation>
    </message>
    <message>
        <location filename="../../app/panels/message_panel.py"/>
        <source>The model can't be loaded</source>
        <translation>无法加载模型</translation>
    </message>
    <message>
        <location filename="../../app/panels/message_panel.py"/>
        <source>The picture can't be drawn</source>
        <translation>无法绘制画面</translation>
    </message>
    <message>
        <location filename="../../app/panels/message_panel.py"/>
        <source>The recording failed</source>
        <translation>录制失败</translation>
    </message>
    <message>
        <location filename="../../app/panels/message_panel.py"/>
        <source>The world has stopped</source>
        <translation>世界已停止</translation>
    </message>
    <message>
        <location filename="../../app/panels/message_panel.py"/>
        <source>There is not enough memory</source>
        <translation>内存不足</translation>
    </message>
    <message>
        <location filename="../../app/panels/message_panel.py"/>
        <source>This failure is called {name} in the log and in the report.</source>
        <translation>此故障在日志和报告中的编号是 {name}。</translation>
    </message>
    <message>
        <location filename="../../app/panels/message_panel.py"/>
        <source>Try again</source>
        <translation>重试</translation>
    </message>
    <message>
        <location filename="../../app/panels/new_world_panel.py"/>
        <source>Begin</source>
        <translation>开始</translation>
    </message>
    <message>
        <location filename="../../app/panels/new_world_panel.py"/>
        <source>Every number is a place of its own. The same number opens the same place again.</source>
        <translation>每个数字都是一个独特的地方。同一个数字会再次打开同一个地方。</translation>
    </message>
    <message>
        <location filename="../../app/panels/new_world_panel.py"/>
        <source>New world</source>
        <translation>新世界</translation>
    </message>
    <message>
        <location filename="../../app/panels/new_world_panel.py"/>
        <source>Surprise me</source>
        <translation>随机一个</translation>
    </message>
    <message>
        <location filename="../../app/panels/new_world_panel.py"/>
        <source>Write a whole number from 0 to {most}.</source>
        <translation>请输入 0 到 {most} 的整数。</translation>
    </message>
    <message>
        <location filename="../../app/panels/new_world_panel.py"/>
        <source>world number</source>
        <translation>世界编号</translation>
    </message>
    <message>
        <location filename="../../app/panels/settings_panel.py"/>
        <source>All to defaults</source>
        <translation>全部恢复默认</translation>
    </message>
    <message>
        <location filename="../../app/panels/settings_panel.py"/>
        <source>Comfort</source>
        <translation>舒适</translation>
    </message>
    <message>
        <location filename="../../app/panels/settings_panel.py"/>
        <source>Done</source>
        <translation>完成</translation>
    </message>
    <message>
        <location filename="../../app/panels/settings_panel.py"/>
        <source>Keys</source>
        <translation>按键</translation>
    </message>
    <message>
        <location filename="../../app/panels/settings_panel.py"/>
        <source>Keys and settings</source>
        <translation>按键和设置</translation>
    </message>
    <message>
        <location filename="../../app/panels/settings_panel.py"/>
        <source>Mouse and gamepad</source>
        <translation>鼠标和手柄</translation>
    </message>
    <message>
        <location filename="../../app/panels/settings_panel.py"/>
        <source>Picture</source>
        <translation>画面</translation>
    </message>
    <message>
        <location filename="../../app/panels/settings_panel.py"/>
        <source>Recording</source>
        <translation>录制</translation>
    </message>
    <message>
        <location filename="../../app/panels/settings_panel.py"/>
        <source>Sound</source>
        <translation>声音</translation>
    </message>
    <message>
        <location filename="../../app/panels/settings_panel.py"/>
        <source>These settings lie in {path}.</source>
        <translation>这些设置保存在 {path}。</translation>
    </message>
    <message>
        <location filename="../../app/panels/settings_panel.py"/>
        <source>World and memory</source>
        <translation>世界和记忆</translation>
    </message>
    <message>
        <location filename="../../app/panels/settings_rows.py"/>
        <source>at once</source>
        <translation>立即生效</translation>
    </message>
    <message>
        <location filename="../../app/panels/settings_rows.py"/>
        <source>from the next start on</source>
        <translation>下次启动起生效</translation>
    </message>
    <message>
        <location filename="../../app/panels/settings_rows.py"/>
        <source>from the next world on</source>
        <translation>下一个世界起生效</translation>
    </message>
    <message>
        <location filename="../../app/panels/settings_rows.py"/>
        <source>set by {origin} for this run</source>
        <translation>本次运行由 {origin} 设定</translation>
    </message>
    <message>
        <location filename="../../app/panels/start_page.py"/>
        <source>A picture to begin with</source>
        <translation>选择起始图片</translation>
    </message>
    <message>
        <location filename="../../app/panels/start_page.py"/>
        <source>A world that you keep while you play waits here.</source>
        <translation>你在游玩时保存的世界会在这里等你。</translation>
    </message>
    <message>
        <location filename="../../app/panels/start_page.py"/>
        <source>Add a model …</source>
        <translation>添加模型……</translation>
    </message>
    <message>
        <location filename="../../app/panels/start_page.py"/>
        <source>Films and screenshots that you make are listed here.</source>
        <translation>你录制的影片和截图会列在这里。</translation>
    </message>
    <message>
        <location filename="../../app/panels/start_page.py"/>
        <source>KEPT WORLDS</source>
        <translation>已保存的世界</translation>
    </message>
    <message>
        <location filename="../../app/panels/start_page.py"/>
        <source>NEW WORLD</source>
        <translation>新世界</translation>
    </message>
    <message>
        <location filename="../../app/panels/start_page.py"/>
        <source>Open</source>
        <translation>打开</translation>
    </message>
    <message>
        <location filename="../../app/panels/start_page.py"/>
        <source>Other worlds</source>
        <translation>换一批世界</translation>
    </message>
    <message>
        <location filename="../../app/panels/start_page.py"/>
        <source>RECENT RECORDINGS</source>
        <translation>最近的录像</translation>
    </message>
    <message>
        <location filename="../../app/panels/start_page.py"/>
        <source>Settings</source>
        <translation>设置</translation>
    </message>
    <message>
        <location filename="../../app/panels/start_page.py"/>
        <source>THIS MACHINE</source>
        <translation>这台机器</translation>
    </message>
    <message>
        <location filename="../../app/panels/start_page.py"/>
        <source>The picture can't be kept: {reason}.</source>
        <translation>无法保存图片：{reason}。</translation>
    </message>
    <message>
        <location filename="../../app/panels/start_page.py"/>
        <source>There is no picture in the clipboard.</source>
        <translation>剪贴板中没有图片。</translation>
    </message>
    <message>
        <location filename="../../app/panels/start_page.py"/>
        <source>Your own picture …</source>
        <translation>自己的图片……</translation>
    </message>
    <message>
        <location filename="../../app/panels/start_page.py"/>
        <source>open</source>
        <translation>打开</translation>
    </message>
    <message>
        <location filename="../../app/panels/timeline_strip.py"/>
        <source>Timeline</source>
        <translation>时间线</translation>
    </message>
    <message>
        <location filename="../../app/panels/timeline_strip.py"/>
        <source>chunk {number} of {all}</source>
        <translation>第 {number} 块，共 {all} 块</translation>
    </message>
    <message>
        <location filename="../../app/panels/timeline_strip.py"/>
        <source>walk on from here: a new branch begins  ·  Esc closes</source>
        <translation>从这里继续走：开始新的分支  ·  Esc 关闭</translation>
    </message>
    <message>
        <location filename="../../app/panels/worlds_panel.py"/>
        <source>Keep it</source>
        <translation>保存</translation>
    </message>
    <message>
        <location filename="../../app/panels/worlds_panel.py"/>
        <source>Name of the world</source>
        <translation>世界的名称</translation>
    </message>
    <message>
        <location filename="../../app/panels/worlds_panel.py"/>
        <source>Not now</source>
        <translation>暂不</translation>
    </message>
    <message>
        <location filename="../../app/panels/worlds_panel.py"/>
        <source>There is a world of this name already.</source>
        <translation>已有同名的世界。</translation>
    </message>
    <message>
        <location filename="../../app/panels/worlds_panel.py"/>
        <source>What you have played so far and all that follows stays, with its memory, in {folder}.</source>
        <translation>到目前为止以及之后的一切连同记忆都保存在 {folder}。</translation>
    </message>
    <message>
        <location filename="../../app/play_actions.py"/>
        <source>all counters as text</source>
        <translation>以文字显示所有计数</translation>
    </message>
    <message>
        <location filename="../../app/play_actions.py"/>
        <source>all settings</source>
        <translation>所有设置</translation>
    </message>
    <message>
        <location filename="../../app/play_actions.py"/>
        <source>all settings are at their defaults</source>
        <translation>所有设置已恢复默认</translation>
    </message>
    <message>
        <location filename="../../app/play_actions.py"/>
        <source>fill the window or show all</source>
        <translation>填满窗口或完整显示</translation>
    </message>
    <message>
        <location filename="../../app/play_actions.py"/>
        <source>full screen</source>
        <translation>全屏</translation>
    </message>
    <message>
        <location filename="../../app/play_actions.py"/>
        <source>let the mouse go, leave full screen, start page</source>
        <translation>释放鼠标、退出全屏、开始页</translation>
    </message>
    <message>
        <location filename="../../app/play_actions.py"/>
        <source>memory off: what leaves the picture is forgotten</source>
        <translation>记忆已关闭：离开画面的都会被遗忘</translation>
    </message>
    <message>
        <location filename="../../app/play_actions.py"/>
        <source>memory on or off</source>
        <translation>开关记忆</translation>
    </message>
    <message>
        <location filename="../../app/play_actions.py"/>
        <source>memory on: the world comes back</source>
        <translation>记忆已开启：世界会恢复原样</translation>
    </message>
    <message>
        <location filename="../../app/play_actions.py"/>
        <source>opening world {seed}</source>
        <translation>正在打开世界 {seed}</translation>
    </message>
    <message>
        <location filename="../../app/play_actions.py"/>
        <source>panels: none, small, full</source>
        <translation>面板：无、小、全</translation>
    </message>
    <message>
        <location filename="../../app/play_actions.py"/>
        <source>quit</source>
        <translation>退出</translation>
    </message>
    <message>
        <location filename="../../app/play_actions.py"/>
        <source>start this world again</source>
        <translation>重新开始这个世界</translation>
    </message>
    <message>
        <location filename="../../app/play_actions.py"/>
        <source>there is only one screen</source>
        <translation>只有一个屏幕</translation>
    </message>
    <message>
        <location filename="../../app/play_actions.py"/>
        <source>this world begins again, with an empty memory</source>
        <translation>这个世界重新开始，记忆清空</translation>
    </message>
    <message>
        <location filename="../../app/play_actions.py"/>
        <source>to the next screen</source>
        <translation>移到下一个屏幕</translation>
    </message>
    <message>
        <location filename="../../app/prompt_actions.py"/>
        <source>Play on</source>
        <translation>继续</translation>
    </message>
    <message>
        <location filename="../../app/prompt_actions.py"/>
        <source>Prompt</source>
        <translation>提示词</translation>
    </message>
    <message>
        <location filename="../../app/prompt_actions.py"/>
        <source>What is made from now on follows this text. A text that is new to this machine is encoded first.</source>
        <translation>此后生成的内容遵循这段文字。本机未用过的文字会先编码。</translation>
    </message>
    <message>
        <location filename="../../app/prompt_actions.py"/>
        <source>a new prompt</source>
        <translation>新的提示词</translation>
    </message>
    <message>
        <location filename="../../app/prompt_actions.py"/>
        <source>another prompt</source>
        <translation>更换提示词</translation>
    </message>
    <message>
        <location filename="../../app/prompt_actions.py"/>
        <source>prompt</source>
        <translation>提示词</translation>
    </message>
    <message>
        <location filename="../../app/settings.py"/>
        <source>A note for each block that comes back, a tick for one that spills, a buzz for a stall.</source>
        <translation>每个取回的块一个音符，溢出一声滴答，停顿一声嗡鸣。</translation>
    </message>
    <message>
        <location filename="../../app/settings.py"/>
        <source>Off, a fast machine runs the world faster than it should.</source>
        <translation>关闭后，快的机器会让世界跑得过快。</translation>
    </message>
    <message>
        <location filename="../../app/settings.py"/>
        <source>The last seconds, kept encoded in main memory; a key saves them as a film.</source>
        <translation>最近的几秒，编码后保存在主存中；按键即可存成影片。</translation>
    </message>
    <message>
        <location filename="../../app/settings.py"/>
        <source>Where the system can't hold the pointer (Wayland), dragging is used.</source>
        <translation>系统无法锁定指针时（Wayland）改用拖动。</translation>
    </message>
    <message>
        <location filename="../../app/settings.py"/>
        <source>Without a device, or without PortAudio, everything stays silent.</source>
        <translation>没有设备或没有 PortAudio 时保持静音。</translation>
    </message>
    <message>
        <location filename="../../app/settings.py"/>
        <source>a window without a border</source>
        <translation>无边框窗口</translation>
    </message>
    <message>
        <location filename="../../app/settings.py"/>
        <source>as long as play took</source>
        <translation>与游玩时间一致</translation>
    </message>
    <message>
        <location filename="../../app/settings.py"/>
        <source>automatic</source>
        <translation>自动</translation>
    </message>
    <message>
        <location filename="../../app/settings.py"/>
        <source>begin at the start page</source>
        <translation>启动时显示开始页</translation>
    </message>
    <message>
        <location filename="../../app/settings.py"/>
        <source>chosen for the model</source>
        <translation>按模型选择</translation>
    </message>
    <message>
        <location filename="../../app/settings.py"/>
        <source>click to hold</source>
        <translation>点击锁定</translation>
    </message>
    <message>
        <location filename="../../app/settings.py"/>
        <source>disk for blocks</source>
        <translation>记忆块可用磁盘</translation>
    </message>
    <message>
        <location filename="../../app/settings.py"/>
        <source>drag</source>
        <translation>拖动</translation>
    </message>
    <message>
        <location filename="../../app/settings.py"/>
        <source>drawn by</source>
        <translation>绘制方式</translation>
    </message>
    <message>
        <location filename="../../app/settings.py"/>
        <source>enlarging</source>
        <translation>放大方式</translation>
    </message>
    <message>
        <location filename="../../app/settings.py"/>
        <source>fills the window</source>
        <translation>填满窗口</translation>
    </message>
    <message>
        <location filename="../../app/settings.py"/>
        <source>films show</source>
        <translation>影片内容</translation>
    </message>
    <message>
        <location filename="../../app/settings.py"/>
        <source>folder of films</source>
        <translation>影片文件夹</translation>
    </message>
    <message>
        <location filename="../../app/settings.py"/>
        <source>folder of saved worlds</source>
        <translation>已保存世界的文件夹</translation>
    </message>
    <message>
        <location filename="../../app/settings.py"/>
        <source>folder of screenshots</source>
        <translation>截图文件夹</translation>
    </message>
    <message>
        <location filename="../../app/settings.py"/>
        <source>folder of the disk tier</source>
        <translation>磁盘层文件夹</translation>
    </message>
    <message>
        <location filename="../../app/settings.py"/>
        <source>full</source>
        <translation>全</translation>
    </message>
    <message>
        <location filename="../../app/settings.py"/>
        <source>full screen is</source>
        <translation>全屏方式</translation>
    </message>
    <message>
        <location filename="../../app/settings.py"/>
        <source>hear the memory</source>
        <translation>听见记忆</translation>
    </message>
    <message>
        <location filename="../../app/settings.py"/>
        <source>high contrast</source>
        <translation>高对比度</translation>
    </message>
    <message>
        <location filename="../../app/settings.py"/>
        <source>hold the world to its natural speed</source>
        <translation>保持世界的自然速度</translation>
    </message>
    <message>
        <location filename="../../app/settings.py"/>
        <source>keys</source>
        <translation>按键</translation>
    </message>
    <message>
        <location filename="../../app/settings.py"/>
        <source>keys only</source>
        <translation>仅按键</translation>
    </message>
    <message>
        <location filename="../../app/settings.py"/>
        <source>language</source>
        <translation>语言</translation>
    </message>
    <message>
        <location filename="../../app/settings.py"/>
        <source>less movement on the screen</source>
        <translation>减少屏幕上的动态</translation>
    </message>
    <message>
        <location filename="../../app/settings.py"/>
        <source>looking with the mouse</source>
        <translation>鼠标观看</translation>
    </message>
    <message>
        <location filename="../../app/settings.py"/>
        <source>main memory for blocks</source>
        <translation>记忆块可用主存</translation>
    </message>
    <message>
        <location filename="../../app/settings.py"/>
        <source>mouse sensitivity</source>
        <translation>鼠标灵敏度</translation>
    </message>
    <message>
        <location filename="../../app/settings.py"/>
        <source>mouse: up and down the other way round</source>
        <translation>鼠标：上下反转</translation>
    </message>
    <message>
        <location filename="../../app/settings.py"/>
        <source>no sound</source>
        <translation>静音</translation>
    </message>
    <message>
        <location filename="../../app/settings.py"/>
        <source>none</source>
        <translation>无</translation>
    </message>
    <message>
        <location filename="../../app/settings.py"/>
        <source>off</source>
        <translation>关</translation>
    </message>
    <message>
        <location filename="../../app/settings.py"/>
        <source>picture</source>
        <translation>画面</translation>
    </message>
    <message>
        <location filename="../../app/settings.py"/>
        <source>replay buffer</source>
        <translation>回放缓冲</translation>
    </message>
    <message>
        <location filename="../../app/settings.py"/>
        <source>say so when the world seems stuck</source>
        <translation>世界似乎卡住时提示</translation>
    </message>
    <message>
        <location filename="../../app/settings.py"/>
        <source>sharp (cubic)</source>
        <translation>锐利（三次）</translation>
    </message>
    <message>
        <location filename="../../app/settings.py"/>
        <source>shown whole</source>
        <translation>完整显示</translation>
    </message>
    <message>
        <location filename="../../app/settings.py"/>
        <source>single pixels</source>
        <translation>逐像素</translation>
    </message>
    <message>
        <location filename="../../app/settings.py"/>
        <source>size of text and panels</source>
        <translation>文字和面板大小</translation>
    </message>
    <message>
        <location filename="../../app/settings.py"/>
        <source>small</source>
        <translation>小</translation>
    </message>
    <message>
        <location filename="../../app/settings.py"/>
        <source>soft (linear)</source>
        <translation>柔和（线性）</translation>
    </message>
    <message>
        <location filename="../../app/settings.py"/>
        <source>software</source>
        <translation>软件</translation>
    </message>
    <message>
        <location filename="../../app/settings.py"/>
        <source>sound in films</source>
        <translation>影片中的声音</translation>
    </message>
    <message>
        <location filename="../../app/settings.py"/>
        <source>steps</source>
        <translation>脚步声</translation>
    </message>
    <message>
        <location filename="../../app/settings.py"/>
        <source>stick dead zone</source>
        <translation>摇杆死区</translation>
    </message>
    <message>
        <location filename="../../app/settings.py"/>
        <source>stick speed</source>
        <translation>摇杆速度</translation>
    </message>
    <message>
        <location filename="../../app/settings.py"/>
        <source>stick: up and down the other way round</source>
        <translation>摇杆：上下反转</translation>
    </message>
    <message>
        <location filename="../../app/settings.py"/>
        <source>the picture alone</source>
        <translation>仅画面</translation>
    </message>
    <message>
        <location filename="../../app/settings.py"/>
        <source>the window with its panels</source>
        <translation>窗口及其面板</translation>
    </message>
    <message>
        <location filename="../../app/settings.py"/>
        <source>the world's: every frame once</source>
        <translation>世界的时间：每帧一次</translation>
    </message>
    <message>
        <location filename="../../app/settings.py"/>
        <source>time in films</source>
        <translation>影片中的时间</translation>
    </message>
    <message>
        <location filename="../../app/settings.py"/>
        <source>use a gamepad</source>
        <translation>使用手柄</translation>
    </message>
    <message>
        <location filename="../../app/settings.py"/>
        <source>volume</source>
        <translation>音量</translation>
    </message>
    <message>
        <location filename="../../app/settings.py"/>
        <source>wind and chord</source>
        <translation>风声和和弦</translation>
    </message>
    <message>
        <location filename="../../app/start_actions.py"/>
        <source>Back to world {seed}</source>
        <translation>回到世界 {seed}</translation>
    </message>
    <message>
        <location filename="../../app/start_actions.py"/>
        <source>Folder with the published files of a model</source>
        <translation>含有模型已发布文件的文件夹</translation>
    </message>
    <message>
        <location filename="../../app/start_actions.py"/>
        <source>Nothing else was changed.</source>
        <translation>没有更改其他内容。</translation>
    </message>
    <message>
        <location filename="../../app/start_actions.py"/>
        <source>added: {names}</source>
        <translation>已添加：{names}</translation>
    </message>
    <message>
        <location filename="../../app/start_actions.py"/>
        <source>can't be opened: {why}</source>
        <translation>无法打开：{why}</translation>
    </message>
    <message>
        <location filename="../../app/start_actions.py"/>
        <source>reading {folder}</source>
        <translation>正在读取 {folder}</translation>
    </message>
    <message>
        <location filename="../../app/start_actions.py"/>
        <source>{model}, {minutes} min, {size}</source>
        <translation>{model}，{minutes} 分钟，{size}</translation>
    </message>
    <message>
        <location filename="../../app/state_chips.py"/>
        <source>click to look with the mouse</source>
        <translation>点击后用鼠标观看</translation>
    </message>
    <message>
        <location filename="../../app/state_chips.py"/>
        <source>drag to look around</source>
        <translation>拖动以环顾</translation>
    </message>
    <message>
        <location filename="../../app/state_chips.py"/>
        <source>looking around to fill the memory</source>
        <translation>正在环顾以填充记忆</translation>
    </message>
    <message>
        <location filename="../../app/state_chips.py"/>
        <source>memory off</source>
        <translation>记忆已关闭</translation>
    </message>
    <message>
        <location filename="../../app/state_chips.py"/>
        <source>paused</source>
        <translation>已暂停</translation>
    </message>
    <message>
        <location filename="../../app/state_chips.py"/>
        <source>random weights: a trial of the machine, not a world</source>
        <translation>随机权重：仅为测试机器，并非真实世界</translation>
    </message>
    <message>
        <location filename="../../app/state_chips.py"/>
        <source>recording  {minutes}:{seconds}</source>
        <translation>录制中  {minutes}:{seconds}</translation>
    </message>
    <message>
        <location filename="../../app/state_chips.py"/>
        <source>speed not held</source>
        <translation>未限速</translation>
    </message>
    <message>
        <location filename="../../app/state_chips.py"/>
        <source>{n} frames left out</source>
        <translation>略去了 {n} 帧</translation>
    </message>
    <message>
        <location filename="../../app/world_actions.py"/>
        <source>back in time (hold)</source>
        <translation>回到过去（按住）</translation>
    </message>
    <message>
        <location filename="../../app/world_actions.py"/>
        <source>bookmark: {name}  ·  B shows all</source>
        <translation>书签：{name}  ·  B 显示全部</translation>
    </message>
    <message>
        <location filename="../../app/world_actions.py"/>
        <source>branches and bookmarks</source>
        <translation>分支和书签</translation>
    </message>
    <message>
        <location filename="../../app/world_actions.py"/>
        <source>keep this world</source>
        <translation>保存这个世界</translation>
    </message>
    <message>
        <location filename="../../app/world_actions.py"/>
        <source>kept already: {folder}, {size}</source>
        <translation>已经保存：{folder}，{size}</translation>
    </message>
    <message>
        <location filename="../../app/world_actions.py"/>
        <source>kept as {name}</source>
        <translation>已保存为 {name}</translation>
    </message>
    <message>
        <location filename="../../app/world_actions.py"/>
        <source>mark this place</source>
        <translation>标记此处</translation>
    </message>
    <message>
        <location filename="../../app/world_actions.py"/>
        <source>place {number}</source>
        <translation>地点 {number}</translation>
    </message>
    <message>
        <location filename="../../app/world_actions.py"/>
        <source>recalled: chunk {number}</source>
        <translation>已唤回：第 {number} 块</translation>
    </message>
    <message>
        <location filename="../../app/world_actions.py"/>
        <source>this is the beginning of the world</source>
        <translation>这里是世界的起点</translation>
    </message>
    <message>
        <location filename="../../app/world_actions.py"/>
        <source>this world is kept: {folder}</source>
        <translation>这个世界已保存：{folder}</translation>
    </message>
</context>
</TS>
